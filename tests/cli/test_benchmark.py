"""`fedsemi benchmark`: one command from a card to table, ranks and page."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from fedsemi.cli import app
from fedsemi.errors import ConfigError

SMALL = ("--profile", "smoke", "--workers", "1", "--set", "data.train_limit=120")


def said(*words: str) -> str:
    result = CliRunner().invoke(app, ["benchmark", *words, *SMALL])
    assert result.exit_code == 0, result.output
    return result.output


@pytest.mark.parametrize(("card", "method"), [("LAC", "sage"), ("LS", "semifl")])
def test_a_card_is_compared_with_one_command_and_its_records_are_kept(
    card: str, method: str, tmp_path: Path
) -> None:
    asked = [card, "--methods", f"lower,{method}", "--reference", method]
    asked += ["--seeds", "2", "--out", str(tmp_path)]
    shown = said(*asked)
    assert (tmp_path / f"benchmark-{card.lower()}-svhn.html").exists()
    records = [json.loads(p.read_text()) for p in (tmp_path / "runs").iterdir()]
    assert {each["card"] for each in records} == {card} and len(records) == 4
    assert all(each["cpu_seconds"] > 0 < each["bytes_sent"] for each in records)
    assert "reference" in shown and "tables and plots" in shown
    assert "4 done, 0 to do" in said(*asked)


def test_the_plan_lists_the_runs_and_makes_nothing(tmp_path: Path) -> None:
    asked = ("LC", "--only", "svhn/sage,uniform", "--plan", "--out", str(tmp_path))
    lines = said(*asked, "--seeds", "2").splitlines()
    listed = [line for line in lines if "svhn/" in line]
    assert len(listed) == 4 and all(line.endswith("unknown") for line in listed)
    assert not list(tmp_path.iterdir())


def test_a_card_that_is_not_there_is_named() -> None:
    result = CliRunner().invoke(app, ["benchmark", "LX", *SMALL])
    assert isinstance(result.exception, ConfigError)
    assert result.exception.code == "FS4104"
