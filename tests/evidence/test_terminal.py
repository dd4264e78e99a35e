"""A comparison as the terminal shows it."""

from __future__ import annotations

from io import StringIO
from typing import Any

from tests.evidence.made import evidence_of
from tests.evidence.test_helping import a_record

from fedsemi.config.experiment import make_experiment
from fedsemi.evidence.catalogue import Setting
from fedsemi.evidence.compare import OwnConfig, comparison_of
from fedsemi.evidence.sweep import at_point, points_of
from fedsemi.evidence.terminal import show
from fedsemi.text.screen import Screen


def test_there_is_a_table_for_each_point_of_a_sweep_and_no_paper(
    small_config: dict[str, Any],
) -> None:
    base = make_experiment(small_config)
    points = points_of({"partition.dirichlet_alpha": [0.5, 2]})
    own = OwnConfig("small", base, {point: at_point(base, point) for point in points})
    made = comparison_of(own, ["lower", "semianagg"])
    runs = {
        Setting("synthetic", arm, point): [a_record(value, f"{arm}{value}")] * 2
        for point in points
        for arm, value in (("lower", 0.5), ("semianagg", 0.6))
    }
    console = Screen(file=StringIO(), width=80)
    show(made, evidence_of(own, runs), console)
    assert isinstance(console.file, StringIO)
    lines = console.file.getvalue().splitlines()
    heads = [line.split() for line in lines if "Acc" in line and "B-Acc" in line]
    assert heads == [
        ["synthetic,", "dirichlet_alpha=0.5", "Acc", "B-Acc"],
        ["synthetic,", "dirichlet_alpha=2", "Acc", "B-Acc"],
    ]
    rows = [line.split()[:2] for line in lines]
    assert rows.count(["semianagg", "60.0"]) == 2
    assert not any("paper" in line for line in lines)
    told = [line for line in lines if line.startswith("semianagg (dirichlet_alpha=")]
    assert [line.split(":")[1] for line in told] == [" The unlabeled sites helped"] * 2
