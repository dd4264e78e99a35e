"""The plot of a sweep, from records made by hand."""

from __future__ import annotations

from typing import Any

from tests.evidence.made import evidence_of, record

from fedsemi.config.experiment import make_experiment
from fedsemi.evidence.catalogue import Chart, Setting
from fedsemi.evidence.compare import OwnConfig
from fedsemi.evidence.sweep import at_point, points_of
from fedsemi.evidence.sweep_plot import sweep_plots

ALPHA, BATCH = "partition.dirichlet_alpha", "local.batch_size"


def test_a_line_has_mean_and_spread_at_each_value_and_a_gap_where_nothing_ran(
    small_config: dict[str, Any],
) -> None:
    base = make_experiment(small_config)
    points = points_of({BATCH: [8], ALPHA: [0.1, 0.5, 2]})
    own = OwnConfig("small", base, {point: at_point(base, point) for point in points})
    settings = [Setting("synthetic", "fedavg", point) for point in points]
    found = evidence_of(
        own, {settings[0]: [record(0.5), record(0.6)], settings[2]: [record(0.7)]}
    )
    (plot,) = sweep_plots(Chart("sweep", "accuracy", tuple(settings)), found)
    assert (plot["label"], plot["names"]) == (ALPHA, ["0.1", "0.5", "2"])
    assert plot["note"].startswith("batch_size=8. Percent")
    assert plot["series"] == [
        {
            "name": "fedavg",
            "values": [55.0, None, 70.0],
            "low": [47.93, None, 70.0],  # 55 - sqrt(50)
            "high": [62.07, None, 70.0],
        }
    ]


def test_settings_with_fewer_values_part_the_plots(
    small_config: dict[str, Any],
) -> None:
    base = make_experiment(small_config)
    points = points_of({ALPHA: [0.1, 0.5, 2], BATCH: [8, 16]})
    own = OwnConfig("small", base, {point: at_point(base, point) for point in points})
    settings = tuple(Setting("synthetic", "fedavg", point) for point in points)
    found = evidence_of(own, {each: [record(0.5)] for each in settings})
    plots = sweep_plots(Chart("sweep", "accuracy", settings), found)
    assert [plot["note"].partition(".")[0] for plot in plots] == [
        "batch_size=8",
        "batch_size=16",
    ]
