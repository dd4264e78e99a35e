"""The table of estimates in docs/seeing.md is that of the records."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

from benchmarks.estimates import HELD_OUT, PAGE, RECORDS, ROWS, record_of, table
from benchmarks.numbers import read_records

from fedsemi.config.experiment import load_config
from fedsemi.config.files import find_config
from fedsemi.objectives.calibration import Estimate
from fedsemi.report.run import Run


def test_the_records_are_of_the_config_that_is_shipped():
    found = read_records(RECORDS)
    assert [record["run"] for record in found] == list(ROWS)
    for record in found:
        settings = [HELD_OUT, *ROWS[record["run"]]]
        config = load_config(find_config(Path("digits")), settings)
        assert config.sha256 == record["config_sha256"]


def test_the_alarms_that_are_told_of_are_those_of_the_first_run():
    first = read_records(RECORDS)[0]
    assert first["alarms"] == [["collapse", 8], ["hurt", 28]]
    text = " ".join(PAGE.read_text("utf-8").split())
    assert "in round 8 acceptance was down to half" in text
    assert "in round 28 held-out accuracy had been below its best" in text


def test_estimates_are_held_against_the_truth_of_their_client_and_round():
    def client(estimate: Estimate | None, truth: float | None) -> Any:
        return SimpleNamespace(
            pseudo_label_estimate=estimate, pseudo_label_accuracy=truth
        )

    inside = client(Estimate(0.8, 0.7, 0.9), 0.85)
    outside = client(Estimate(0.9, 0.8, 1.0), 0.5)
    labeled = client(None, None)
    rounds = [{0: labeled, 1: inside}, {0: labeled, 1: outside}]
    run = SimpleNamespace(
        records=[SimpleNamespace(clients=each) for each in rounds],
        manifest={"config_sha256": "a"},
        summary={"result": {"mean_of_last_10": {"accuracy": 0.875}}},
        alarms=[SimpleNamespace(kind="collapse", round=8)],
    )
    found = record_of(cast(Run, run))
    # Errors are −5 and +40 points, widths 20 and 20.
    assert found == {
        "config_sha256": "a",
        "accuracy": 0.875,
        "estimates": 2,
        "inside": 1,
        "error": 17.5,
        "largest": 40.0,
        "width": 20.0,
        "alarms": [["collapse", 8]],
    }
    assert table([{"run": "a run", **found}]).splitlines()[-1] == (
        "| a run | 87.5 % | 1 of 2 client-rounds | +17.5 points | +40.0 "
        "| 20 points wide |"
    )
