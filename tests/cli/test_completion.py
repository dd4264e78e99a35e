"""What shells offer after the tabulator key, asked for as they ask."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.shell_completion import ShellComplete
from typer.main import get_command

import fedsemi
from fedsemi.cli import app
from fedsemi.cli.commands import PANELS
from fedsemi.cli.completion import sketch
from fedsemi.config.files import CONFIGS
from fedsemi.data.datasets import DATASETS
from fedsemi.methods import METHODS

SOURCE = str(Path(fedsemi.__file__).parents[1])


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def offered(*words: str) -> list[str]:
    """Ask what may stand for the last word."""
    shell = ShellComplete(get_command(app), {}, "fedsemi", "_FEDSEMI_COMPLETE")
    return [each.value for each in shell.get_completions(list(words[:-1]), words[-1])]


def make_run(path: str) -> None:
    Path(path).mkdir(parents=True)
    (Path(path) / "config.json").touch()


def test_commands_and_their_options_are_offered() -> None:
    names = [entry.name for entries in PANELS.values() for entry in entries]
    assert offered("") == names
    assert offered("re") == ["report", "rerun", "reproduce", "retire"]
    assert offered("run", "--re") == ["--resume"]
    assert offered("export", "x", "--format", "t") == ["torch", "tensorboard"]


@pytest.mark.parametrize(
    "command", [entry.name for entries in PANELS.values() for entry in entries]
)
def test_every_command_has_a_sketch_with_its_options(command: str) -> None:
    group = get_command(app)
    real = group.commands[command].real  # type: ignore[attr-defined]
    options = {
        name for param in real.params for name in (*param.opts, *param.secondary_opts)
    }
    assert {name for param in sketch(command).params for name in param.opts} == options


def test_shipped_configs_and_files_of_the_folder_are_offered() -> None:
    Path("mine.toml").touch()
    Path("sub").mkdir()
    Path("sub", "other.toml").touch()
    everything = offered("run", "")
    assert {"demo", "svhn/semianagg", "mine.toml"} <= set(everything)
    assert len(everything) == len(list(CONFIGS.rglob("*.toml"))) + 1
    assert offered("run", "sub/") == ["sub/other.toml"]
    assert offered("configs", "cpu/") == ["cpu/isic18", "cpu/svhn"]


def test_methods_and_data_sets_are_offered() -> None:
    assert offered("methods", "") == list(METHODS)
    assert offered("compare", "demo", "--methods", "fedavg,rsc") == ["fedavg,rscfed"]
    assert offered("datasets", "") == ["get", *DATASETS]
    assert offered("datasets", "get", "") == list(DATASETS)
    assert offered("settings", "part") == ["partition"]


def test_folders_of_runs_are_offered_wherever_a_run_is_meant() -> None:
    for path in ("runs/a", "runs/demo/semianagg", "other/b"):
        make_run(path)
    Path("runs/empty").mkdir()
    for words in (["report"], ["watch"], ["run", "--resume"], ["diff", "x"]):
        assert offered(*words, "") == ["runs/a", "runs/demo/semianagg"]
    assert offered("export", "ru") == ["runs/a", "runs/demo/semianagg"]
    assert offered("export", "other/") == ["other/b"]


def test_a_name_that_would_forge_an_offer_is_left_out() -> None:
    make_run("runs/a\nrm")
    make_run("runs/b\x1b[2J")
    assert offered("report", "") == []


def test_names_of_settings_are_offered_after_set() -> None:
    assert offered("run", "demo", "--set", "partition.num") == [
        "partition.num_clients="
    ]
    # The second stage of the demo is SemiAnAgg, the first has no settings of its own.
    assert offered("run", "demo", "--set", "stages.1.ru") == ["stages.1.rule="]
    assert offered("run", "demo", "--set", "stages.0.ru") == []
    assert offered("run", "demo", "--set", "stages.2.") == []
    assert "stages.1.rounds=" in offered("demo", "--set", "stages.1.")
    assert offered("run", "nowhere.toml", "--set", "seed") == ["seed="]


def test_known_values_are_offered_after_the_equals_sign() -> None:
    def value(text: str) -> list[str]:
        return [each.split("=")[1] for each in offered("run", "demo", "--set", text)]

    assert value("data.name=") == list(DATASETS)
    assert value("model.name=resnet8") == ["resnet8"]
    assert value("stages.1.method=fedb") == ["fedbarlow"]
    assert value("stages.1.rule=p") == ["paper", "presence"]
    assert value("guard.enabled=") == ["true", "false"]
    assert value("seed=") == []


def asked(shell: str, line: str) -> subprocess.CompletedProcess[str]:
    """Ask as the shell's script does; report what was imported on the way."""
    words = line.split(" ")
    told = {
        "bash": {"COMP_WORDS": line, "COMP_CWORD": str(len(words) - 1)},
        "zsh": {"_TYPER_COMPLETE_ARGS": line},
        "fish": {
            "_TYPER_COMPLETE_ARGS": line,
            "_TYPER_COMPLETE_FISH_ACTION": "get-args",
        },
    }[shell]
    told |= {"_FEDSEMI_COMPLETE": f"complete_{shell}", "PYTHONPATH": SOURCE}
    command = [sys.executable, "-X", "importtime", "-m", "fedsemi"]
    return subprocess.run(
        command, env=os.environ | told, capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_shell_is_answered_without_a_heavy_import(shell: str) -> None:
    done = asked(shell, "fedsemi run demo --set partition.num")
    assert "partition.num_clients=" in done.stdout
    imported = {line.split("|")[-1].strip() for line in done.stderr.splitlines()}
    assert "fedsemi.cli.completion" in imported
    assert imported.isdisjoint({"torch", "numpy", "pydantic", "sklearn"})


def test_bash_completes_with_the_script_that_is_shown(tmp_path: Path) -> None:
    program = tmp_path / "fedsemi"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m fedsemi "$@"\n')
    program.chmod(0o755)
    script = """
eval "$(_FEDSEMI_COMPLETE=source_bash fedsemi)"
COMP_WORDS=(fedsemi methods semia) COMP_CWORD=2
_fedsemi_completion fedsemi
echo "${COMPREPLY[@]}"
complete -p fedsemi
"""
    path = f"{tmp_path}:{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-c", script],
        env=os.environ | {"PATH": path, "PYTHONPATH": SOURCE},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.splitlines()[0] == "semianagg"
    assert "_fedsemi_completion" in done.stdout.splitlines()[1]
