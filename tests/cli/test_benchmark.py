"""`fedsemi benchmark`: one command from a card to table, ranks and page."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from fedsemi.cli import app
from fedsemi.errors import ConfigError, Mismatch

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


OUTSIDE = '''
from dataclasses import dataclass
from fedsemi.methods.fedavg import UniformSemi

@dataclass(frozen=True)
class Mine(UniformSemi):
    """Equal weights under another name."""
    cards = ("LAC",)
'''


def test_a_method_from_outside_enters_and_a_third_party_checks_its_record(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "mine.py").write_text(OUTSIDE)
    monkeypatch.syspath_prepend(tmp_path)
    out = tmp_path / "results"
    shown = said(
        "LAC", "--methods", "uniform,mine:Mine", "--seeds", "1", "--out", str(out)
    )
    assert "mine:Mine" in shown and "+0.00" in shown
    (path,) = [p for p in (out / "runs").iterdir() if "mine:Mine" in p.read_text()]
    checked = CliRunner().invoke(app, ["rerun", str(path), "--workers", "1"])
    assert checked.exit_code == 0, checked.output
    assert "same model_sha256" in checked.output and "note" not in checked.output
    text = path.read_text().replace('"accuracy":[0.', '"accuracy":[0.9')
    made = json.loads(text)["software"]
    assert len(made["fedsemi_sha256"]) == 64 and made["cpu"]
    path.write_text(text.replace(made["fedsemi_sha256"], "0" * 64))
    refused = CliRunner().invoke(app, ["rerun", str(path), "--workers", "1"])
    # Whoever looks for the reason is told that the code was another one.
    assert "note: fedsemi_sha256 was 0000" in refused.output
    assert isinstance(refused.exception, Mismatch)
    assert "did not come out the same: rounds" in str(refused.exception)


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
