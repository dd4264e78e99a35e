"""The page on methods of one's own is true: its code runs, wherever it says so."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from fedsemi.simulation.conduct import conduct
from typer.testing import CliRunner

import fedsemi
from fedsemi.cli import app
from fedsemi.config.experiment import load_config
from fedsemi.simulation.build import build
from fedsemi.weights import digest

from .page import files_on_the_page, write_files

FEW = ["data.train_limit=90", "data.test_limit=20", "stages.1.learner.cutoff=0.1"]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    write_files(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    return tmp_path


def test_the_page_holds_these_files() -> None:
    assert set(files_on_the_page()) == {
        "by_entropy.py",
        "entropy.toml",
        "test_by_entropy.py",
        "my_net.py",
        "my_data.py",
    }


def test_the_method_gives_the_same_bits_here_with_workers_and_on_flower(
    folder: Path,
) -> None:
    simulation = build(load_config(folder / "entropy.toml", FEW))
    *_, alone = conduct(simulation)
    *_, together = conduct(simulation, workers=2)
    assert digest(alone.weights) == digest(together.weights)
    (labeled,) = [c.id for c in simulation.federation.clients if c.num_labeled]
    assert alone.state.contributions[labeled] == pytest.approx(0.5)
    pytest.importorskip("flwr")
    from fedsemi.deployment.one_machine.simulate import conduct_on_loopback

    *_, remote = conduct_on_loopback(simulation)
    assert digest(alone.weights) == digest(remote.weights)


def test_its_own_tests_pass(folder: Path) -> None:
    source = str(Path(fedsemi.__file__).parents[1])
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "."],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": source},
        capture_output=True,
        text=True,
    )
    assert "2 passed" in done.stdout, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("command", "told"),
    [
        (["plugins", "entropy.toml"], "by_entropy:ByEntropy"),
        (["methods", "by_entropy:ByEntropy"], "power"),
        (["wire", "entropy.toml", "--set", FEW[0]], "statistics.entropy"),
    ],
)
def test_the_commands_show_what_they_promise(
    folder: Path, monkeypatch: pytest.MonkeyPatch, command: list[str], told: str
) -> None:
    monkeypatch.chdir(folder)
    monkeypatch.setenv("COLUMNS", "160")
    shown = CliRunner().invoke(app, command)
    assert shown.exit_code == 0, shown.output
    assert told in shown.output


def test_the_network_and_the_data_set_go_with_it(folder: Path) -> None:
    own = [
        'data={ name = "my_data:stripes" }',
        'model={ name = "my_net:Plain", hidden = 4 }',
        "stages.0.rounds=1",
        "stages.1.rounds=1",
    ]
    simulation = build(load_config(folder / "entropy.toml", own))
    assert simulation.class_names == ("plain", "striped")
    *_, last = conduct(simulation)
    assert last.state.round == 1
