from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

from rich.console import Console

from fedsemi.cli.demo import run_demo, upper_bound
from fedsemi.config.experiment import make_experiment
from fedsemi.config.labels_only import labels_only


def test_bounds_train_for_as_many_rounds(small_config: dict[str, Any]) -> None:
    experiment = make_experiment(small_config)
    for bound in (labels_only(experiment), upper_bound(experiment)):
        assert [stage.rounds for stage in bound.stages] == [4]
        assert bound.stages[0].method == "supervised"
    assert upper_bound(experiment).partition.labeled_clients == "all"


def test_the_demo_compares_three_runs_and_keeps_them(
    small_config: dict[str, Any], tmp_path: Path
) -> None:
    screen = io.StringIO()
    console = Console(file=screen, width=120)

    results = run_demo(make_experiment(small_config), tmp_path, 1, console)

    shown = screen.getvalue()
    for word in ("lower bound", "semianagg", "upper bound", "contribution"):
        assert word in shown
    lower, ours, upper = (result.accuracy for result in results)
    assert f"closes {(ours - lower) / (upper - lower):.0%} of the gap" in shown
    for name in ("lower-bound", "semianagg", "upper-bound"):
        summary = json.loads((tmp_path / name / "summary.json").read_text())
        assert 0 <= summary["result"]["last_round"]["accuracy"] <= 1
