"""What a line tells people to type can be typed, and does what the line says."""

from __future__ import annotations

import ast
import errno
import json
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
from rich.console import Console
from typer.testing import CliRunner

import fedsemi
import fedsemi.runs.folder
from fedsemi.cli import app
from fedsemi.config.experiment import make_experiment
from fedsemi.errors import ConfigError, StorageError
from fedsemi.simulation.build import build
from fedsemi.simulation.run import run_simulation
from fedsemi.storage import cannot_write
from fedsemi.use.session import record_run

PACKAGE = Path(fedsemi.__file__).parent
DOCS = Path(__file__).parents[1] / "docs"
COMMANDS = typer.main.get_command(app).commands
OPTIONS = {o for p in typer.main.get_command(app).params for o in p.opts}
VALUE = "VALUE"
"""Stands for what is put into a text when the program runs."""


def literal(node: ast.expr) -> str:
    """Return a text of the source, with `VALUE` for what is put in."""
    if isinstance(node, ast.Constant):
        return str(node.value)
    if isinstance(node, ast.JoinedStr):
        return "".join(literal(part) for part in node.values)
    return VALUE


def advised(path: Path) -> Iterator[str]:
    """List the commands that a module tells people to type."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.JoinedStr | ast.Constant):
            yield from re.findall(r"`(fedsemi [^`]+)`", literal(node))
        elif isinstance(node, ast.Call) and ast.unparse(node.func) == "typed":
            yield " ".join(literal(word) for word in node.args)


SAID = sorted({c for p in PACKAGE.rglob("*.py") for c in advised(p)})
WRITTEN = sorted(
    {
        command.split("#")[0].strip()
        for page in [*DOCS.glob("*.md"), DOCS.parent / "README.md"]
        for command in re.findall(
            r"`(fedsemi [^`\n]+)`|^(fedsemi .+[^.\n])$", page.read_text("utf-8"), re.M
        )
        for command in command
        if command
    }
)


def test_there_is_advice() -> None:
    assert "fedsemi run --resume VALUE VALUE" in SAID
    assert "fedsemi server VALUE" in SAID
    assert len(SAID) > 15 and len(WRITTEN) > 30


@pytest.mark.parametrize("command", [*SAID, *WRITTEN])
def test_a_command_that_is_named_exists_with_its_options(command: str) -> None:
    _, *words = shlex.split(command)
    if words[0] in (VALUE, "COMMAND", "--debug"):  # any command
        return
    if words[0] in OPTIONS | {"--help"}:
        return
    assert words[0] in COMMANDS
    known = {name for p in COMMANDS[words[0]].real.params for name in p.opts}
    options = {word.split("=")[0] for word in words[1:] if word.startswith("--")}
    assert options <= known | {"--help"}


CONTENT: dict[str, Any] = {
    "data": {"name": "synthetic", "train_limit": 40, "test_limit": 20},
    "partition": {"num_clients": 2, "labeled_clients": 1, "min_size": 1},
    "model": {"name": "resnet8", "width": 2},
    "stages": [{"method": "supervised", "rounds": 2}],
}


@pytest.fixture
def full_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the second checkpoint of a run find no room, and all later ones some."""
    write, calls = fedsemi.runs.folder.write_checkpoint, []

    def fail_once(path: Path, *rest: Any) -> None:
        calls.append(path)
        if len(calls) == 2:
            raise cannot_write(path, 1000, OSError(errno.ENOSPC, "No space left"))
        write(path, *rest)

    monkeypatch.setattr("fedsemi.runs.folder.write_checkpoint", fail_once)


def command_in(error: BaseException | None) -> list[str]:
    assert isinstance(error, StorageError)
    (command,) = re.findall(r"with `([^`]+)`$", str(error))
    return shlex.split(command)


def test_the_command_after_a_full_disk_continues_the_run(
    full_disk: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("FEDSEMI_DATA", raising=False)  # it would be named
    Path("c.json").write_text(json.dumps(CONTENT))
    words = ["run", "c.json", "--out", "my runs/a b", "--workers", "1"]
    stopped = CliRunner().invoke(app, words)
    command = command_in(stopped.exception)
    assert command == ["fedsemi", "run", "--resume", "my runs/a b"]
    done = CliRunner().invoke(app, [*command[1:], "--workers", "1"])
    assert done.exit_code == 0 and "FS1001 resuming" in done.stdout


def test_the_command_after_a_full_disk_begins_a_rerun_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("c.json").write_text(json.dumps(CONTENT))
    run = CliRunner().invoke(app, ["run", "c.json", "--out", "r", "--workers", "1"])
    assert run.exit_code == 0
    request.getfixturevalue("full_disk")
    stopped = CliRunner().invoke(app, ["rerun", "r", "--workers", "1"])
    command = command_in(stopped.exception)
    assert command == ["fedsemi", "rerun", "r"]
    assert CliRunner().invoke(app, command[1:]).exit_code == 0


def test_the_command_after_a_coordinators_full_disk_is_the_coordinators(
    full_disk: None, tmp_path: Path
) -> None:
    pytest.importorskip("flwr")
    from fedsemi.deployment.coordinator.deployed import open_run

    simulation = build(make_experiment(CONTENT))
    coordinator = tmp_path / "trial x" / "coordinator"
    (coordinator / "enrolled").mkdir(parents=True)
    (coordinator / "plan.json").write_text(simulation.as_json())
    quiet = Console(quiet=True)
    with (
        open_run(coordinator / "run", simulation) as folder,
        pytest.raises(StorageError) as stopped,
    ):
        record_run(folder, simulation, run_simulation(simulation, 1), "first", quiet)
    assert command_in(stopped.value) == ["fedsemi", "server", str(coordinator)]

    other = CliRunner().invoke(app, ["run", "--resume", str(coordinator / "run")])
    assert isinstance(other.exception, ConfigError)
    assert other.exception.code == "FS1125"
    assert f"`fedsemi server '{coordinator}'`" in str(other.exception)

    with open_run(coordinator / "run", simulation) as folder:
        assert folder.start is not None
        steps = run_simulation(simulation, 1, folder.start)
        assert record_run(folder, simulation, steps, "again", quiet)[0] is not None


def test_a_bad_start_is_told_before_there_is_a_folder_and_its_advice_works(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("bad.safetensors").write_bytes(b"no model")
    Path("c.json").write_text(json.dumps({**CONTENT, "start": "bad.safetensors"}))
    words = ["run", "c.json", "--out", "r", "--workers", "1"]
    for told in (["start=bad.safetensors"], ["start=missing.safetensors"]):
        refused = CliRunner().invoke(app, [*words, "--set", *told])
        assert isinstance(refused.exception, StorageError)
        assert "--resume" not in str(refused.exception)
        assert "--set start=FILE" in str(refused.exception)
        assert not Path("r", "config.json").exists()
    good = {**CONTENT, "stages": [{"method": "supervised", "rounds": 1}]}
    Path("warm.json").write_text(json.dumps(good))
    warm = ["run", "warm.json", "--out", "warm", "--workers", "1"]
    assert CliRunner().invoke(app, warm).exit_code == 0
    done = CliRunner().invoke(app, [*words, "--set", "start=warm/model.safetensors"])
    assert done.exit_code == 0, done.exception


def test_a_start_that_went_bad_before_the_first_checkpoint_advises_what_works(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("c.json").write_text(json.dumps(CONTENT))
    done = CliRunner().invoke(app, ["run", "c.json", "--out", "w", "--workers", "1"])
    assert done.exit_code == 0
    experiment = make_experiment({**CONTENT, "start": "w/model.safetensors"})
    fedsemi.runs.folder.RunFolder.new(Path("r"), build(experiment)).close()
    Path("w/model.safetensors").write_bytes(b"no model")
    again = ["run", "--resume", "r", "--workers", "1"]
    stopped = CliRunner().invoke(app, again)
    assert isinstance(stopped.exception, StorageError)
    assert "continue with" not in str(stopped.exception)
    Path("warm.json").write_text(json.dumps(CONTENT))
    whole = ["run", "warm.json", "--out", "w2", "--workers", "1"]
    assert CliRunner().invoke(app, whole).exit_code == 0
    words = [*again, "--set", "start=w2/model.safetensors"]
    assert CliRunner().invoke(app, words).exit_code == 0
