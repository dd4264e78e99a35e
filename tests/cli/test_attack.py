"""What `fedsemi attack` runs, prints and saves."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from fedsemi.cli import app, attack
from fedsemi.cli.attack import result_table
from fedsemi.errors import ConfigError
from fedsemi.simulation.attack_suite import AGGREGATIONS, Outcome
from fedsemi.simulation.attacked import ATTACKS
from fedsemi.text.screen import Screen

CONFIG = """
[data]
name = "synthetic"
[model]
name = "resnet8"
[[stages]]
method = "supervised"
rounds = 1
[[stages]]
method = "semianagg"
rounds = 1
"""


def outcome(attack: str, guard: bool, score: float, **more: Any) -> Outcome:
    values: dict[str, Any] = {"share": 0.125, "dropped": 0} | more
    return Outcome(1, "semianagg", attack, guard, score, **values)


OUTCOMES = [
    outcome("none", True, 0.79),
    outcome("none", False, 0.80),
    outcome("flip", True, 0.78, share=0.02, dropped=3),
    outcome("flip", False, 0.55, share=0.25),
]


def lines_of(outcomes: list[Outcome]) -> list[list[str]]:
    console = Screen(file=StringIO(), width=120)
    console.print(result_table(outcomes))
    assert isinstance(console.file, StringIO)
    return [line.split() for line in console.file.getvalue().splitlines()]


def test_what_is_lost_is_counted_from_the_unguarded_run_without_an_attack() -> None:
    _, honest, flipped = lines_of(OUTCOMES)
    # 80 - 80 and 80 - 79 points; then 80 - 55 and 80 - 78.
    assert honest == ["semianagg", "none", "0.0", "12.5%", "1.0", "12.5%", "0"]
    assert flipped == ["semianagg", "flip", "25.0", "25.0%", "2.0", "2.0%", "3"]


def test_the_share_of_attackers_under_masks_is_hidden() -> None:
    _, honest, _ = lines_of([replace(each, share=None) for each in OUTCOMES])
    assert honest == ["semianagg", "none", "0.0", "hidden", "1.0", "hidden", "0"]


def test_a_trigger_says_how_often_it_works_with_and_without_the_guard() -> None:
    marked = [
        *OUTCOMES[:2],
        outcome("trigger", True, 0.8, success=0.1),
        outcome("trigger", False, 0.8, success=0.95),
    ]
    assert lines_of(marked)[-1][-3:] == ["95%,", "guarded", "10%"]


@pytest.fixture
def suite(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> dict[str, Any]:
    """Run nothing; keep what would have been run."""
    monkeypatch.chdir(tmp_path)
    Path("c.toml").write_text(CONFIG)
    asked: dict[str, Any] = {}

    def run(
        experiment: Any, attacks: Any, aggregations: Any, out: Path, data_dir: Any
    ) -> Iterator[Outcome]:
        out.mkdir(parents=True)
        asked.update(attacks=attacks, aggregations=aggregations, data_dir=data_dir)
        asked["seed"] = experiment.seed
        yield from OUTCOMES

    monkeypatch.setattr(attack, "run_suite", run)
    return asked


def test_all_attacks_on_all_aggregations_are_tried_unless_some_are_named(
    suite: dict[str, Any],
) -> None:
    done = CliRunner().invoke(app, ["attack", "c.toml", "--out", "a"])
    assert done.exit_code == 0, done.exception
    assert suite["attacks"] == tuple(ATTACKS)
    assert suite["aggregations"] == tuple(AGGREGATIONS)
    words = ["--attack", "flip", "--aggregation", "fedavg", "--set", "seed=9"]
    CliRunner().invoke(app, ["attack", "c.toml", "--out", "b", *words])
    assert suite["attacks"] == ("flip",) and suite["aggregations"] == ("fedavg",)
    assert suite["seed"] == 9


def test_each_run_is_told_when_it_ends_and_all_are_saved(suite: dict[str, Any]) -> None:
    done = CliRunner().invoke(app, ["attack", "c.toml", "--out", "a"])
    assert "semianagg flip guard on: 78.00%" in done.output
    assert "semianagg flip guard off: 55.00%" in done.output
    saved = json.loads(Path("a/attacks.json").read_text())
    assert [Outcome(**each) for each in saved] == OUTCOMES


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--attack", "flipp"], "no attack 'flipp' (did you mean 'flip'?)"),
        (["--aggregation", "fedag"], "no aggregation 'fedag' (did you mean 'fedavg'?)"),
    ],
)
def test_a_slip_is_refused_before_anything_runs(
    words: list[str], said: str, suite: dict[str, Any]
) -> None:
    done = CliRunner().invoke(app, ["attack", "c.toml", *words])
    assert isinstance(done.exception, ConfigError)
    assert done.exception.code == "FS4104" and said in str(done.exception)
    assert not suite
