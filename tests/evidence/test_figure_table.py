"""A figure's points as numbers."""

from __future__ import annotations

import csv
import io
from typing import Any

from tests.evidence.made import evidence_of, record

from fedsemi.evidence.catalogue import Artifact, Chart, setting
from fedsemi.evidence.figure_table import figure_csv
from fedsemi.evidence.figures import CATALOGUE
from fedsemi.evidence.plots import plots_of
from fedsemi.evidence.profiles import Profile

OURS = setting("isic18", "semianagg")


def lines(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def test_each_point_of_a_curve_has_its_band_and_number_of_seeds(tiny: Profile) -> None:
    figure = Artifact("fig1", "Curves", charts=(Chart("curves", "A", (OURS,)),))
    runs: list[dict[str, Any]] = [record(0.2, 0.5), record(0.4, 0.5)]
    first, second = lines(figure_csv(figure, evidence_of(tiny, {OURS: runs})))
    assert first == {
        "plot": "A",
        "series": "SemiAnAgg, paper's rule",
        "x": "1",
        "value": "30.0",
        "low": "15.86",
        "high": "44.14",
        "low to high is": "± 1 standard deviation",
        "seeds": "2",
        "unit": "percent",
    }
    assert second["value"] == second["low"] == "50.0"


def test_each_bar_and_each_class_of_a_client_is_a_line(tiny: Profile) -> None:
    run = record(0.5) | {
        "owns": {"0": {"class_count": [3, 4]}, "1": {"class_count": [5, 0]}},
        "class_names": ["a", "b"],
    }
    bars = Chart("bars", "Bars", (OURS,), "balanced_accuracy")
    charts = bars, Chart("classes", "Owners", (OURS,))
    figure = Artifact("fig1", "Both", charts=charts)
    bar, *counts = lines(figure_csv(figure, evidence_of(tiny, {OURS: [run]})))
    assert (bar["plot"], bar["value"], bar["unit"]) == ("Bars", "40.0", "percent")
    assert bar["seeds"] == "1"
    assert [(c["series"], c["x"], c["value"]) for c in counts] == [
        ("client 0", "a", "3"),
        ("client 0", "b", "4"),
        ("client 1", "a", "5"),
        ("client 1", "b", "0"),
    ]


def test_every_kind_of_plot_of_the_paper_can_be_written(tiny: Profile) -> None:
    run = record(0.5) | {
        "owns": {"0": {"class_count": [3], "num_labeled": 3, "num_unlabeled": 0}},
        "class_names": ["a"],
        "clients": {
            "round": [1],
            "contribution": {"1": [0.1]},
            "pseudo_label_accuracy": {"1": [0.9]},
            "mean_contribution": {},
        },
    }
    run["rounds"]["auc"] = [0.5]
    for artifact in CATALOGUE.values():
        runs = {each: [run] for chart in artifact.charts for each in chart.settings}
        shown = [e for e in runs if e.without is None]
        evidence = evidence_of(tiny, {each: [run] for each in shown})
        drawn = [p for chart in artifact.charts for p in plots_of(chart, evidence)]
        assert bool(drawn) == bool(lines(figure_csv(artifact, evidence)))
