"""Plots are data: what is drawn, worked by hand from made records."""

from __future__ import annotations

from typing import Any

import pytest
from tests.evidence.made import evidence_of, record, scores_of

from fedsemi.evidence.catalogue import Chart, Setting, setting
from fedsemi.evidence.figures import CATALOGUE
from fedsemi.evidence.plots import leave_one_out, plots_of
from fedsemi.evidence.profiles import Profile
from fedsemi.evidence.results import Evidence

OURS = setting("isic18", "semianagg")


def curves(profile: Profile, *runs: dict[str, Any] | None) -> list[dict[str, Any]]:
    return plots_of(Chart("curves", "A", (OURS,)), evidence_of(profile, {OURS: runs}))


def test_a_curve_is_the_mean_of_the_seeds_in_a_band_of_one_deviation(
    tiny: Profile,
) -> None:
    # 0.2 and 0.4: mean 0.3, deviation sqrt(2 * 0.1^2 / 1) = 0.1414.
    (plot,) = curves(tiny, record(0.2, 0.5), record(0.4, 0.5))
    (line,) = plot["series"]
    assert (plot["title"], plot["kind"], line["seeds"]) == ("A", "lines", 2)
    # One round of warm-up goes before.
    assert line["xs"] == [1, 2] and line["values"] == [0.3, 0.5]
    assert line["low"] == [0.1586, 0.5] and line["high"] == [0.4414, 0.5]


def test_one_seed_has_a_line_and_no_band(tiny: Profile) -> None:
    (plot,) = curves(tiny, record(0.2, 0.6))
    (line,) = plot["series"]
    assert line["values"] == [0.2, 0.6]
    assert "low" not in line and "high" not in line


def test_a_curve_begins_after_the_warm_up_and_skips_rounds_without_a_score(
    tiny: Profile,
) -> None:
    warm, rest = scores_of(0.1, stage=0), scores_of(0.5, None, 0.7)
    both = {key: warm[key] + rest[key] for key in warm}
    (plot,) = curves(tiny, {"rounds": both})
    assert plot["series"][0]["xs"] == [1, 3]
    assert plot["series"][0]["values"] == [0.5, 0.7]


def test_seeds_that_were_tested_in_other_rounds_count_where_they_were(
    tiny: Profile,
) -> None:
    (plot,) = curves(tiny, record(0.2, 0.4, 0.6), record(0.4))
    (line,) = plot["series"]
    assert line["xs"] == [1, 2, 3] and line["values"] == [0.3, 0.4, 0.6]


def test_arms_with_and_without_a_warm_up_meet_at_equal_rounds_of_training(
    tiny: Profile,
) -> None:
    lower = setting("isic18", "lower")
    one_stage = {"rounds": scores_of(0.1, 0.2, 0.3, stage=0)}
    evidence = evidence_of(tiny, {OURS: [record(0.5, 0.6)], lower: [one_stage]})
    (plot,) = plots_of(Chart("curves", "A", (lower, OURS)), evidence)
    assert [line["xs"] for line in plot["series"]] == [[0, 1, 2], [1, 2]]


def test_a_curve_is_named_by_its_arm_and_what_is_special_about_its_data(
    tiny: Profile,
) -> None:
    part = setting("isic18", "semianagg", labeled_clients=2)
    evidence = evidence_of(tiny, {OURS: [record(0.1)], part: [record(0.1)]})
    (plot,) = plots_of(Chart("curves", "", (OURS, part)), evidence)
    names = [line["name"] for line in plot["series"]]
    assert names == [
        "SemiAnAgg, paper's rule",
        "SemiAnAgg, paper's rule, labeled clients 2",
    ]


def test_lines_are_drawn_over_the_seeds_that_all_of_them_have(tiny: Profile) -> None:
    lower = setting("isic18", "lower")
    runs = {OURS: [record(0.1), record(0.2), record(0.9)]}
    runs[lower] = [record(0.3), record(0.4)]
    chart = Chart("curves", "A", (OURS, lower))
    (plot,) = plots_of(chart, evidence_of(tiny, runs))
    found = [(line["values"], line["seeds"]) for line in plot["series"]]
    assert found == [([0.15], 2), ([0.35], 2)]
    assert plot["note"].startswith("Mean over the seeds that all lines have;")


def test_a_line_of_one_seed_leaves_the_others_theirs(tiny: Profile) -> None:
    lower = setting("isic18", "lower")
    runs = {OURS: [record(0.1), record(0.2)], lower: [record(0.3)]}
    chart = Chart("curves", "A", (OURS, lower))
    (plot,) = plots_of(chart, evidence_of(tiny, runs))
    assert [line["seeds"] for line in plot["series"]] == [2, 1]
    assert plot["note"].startswith("Mean over the seeds that each line has;")


def test_a_line_that_was_not_run_is_named(tiny: Profile) -> None:
    anchor = setting("isic18", "semianagg-anchor-2")
    chart = Chart("curves", "A", (OURS, anchor))
    (plot,) = plots_of(chart, evidence_of(tiny, {OURS: [record(0.1)]}))
    assert plot["note"].endswith("Not run: SemiAnAgg, another anchor.")


@pytest.mark.parametrize("name", [name for name in CATALOGUE if name[0] == "f"])
def test_without_records_there_is_no_plot(tiny: Profile, name: str) -> None:
    for chart in CATALOGUE[name].charts:
        assert plots_of(chart, Evidence(tiny, 1, {})) == []


def test_clients_are_drawn_from_the_first_seed_that_was_run(tiny: Profile) -> None:
    def of(share: float) -> dict[str, Any]:
        clients = {"round": [0, 1], "contribution": {"1": [share, 0.5], "2": [0.0, 0]}}
        return record(0.5, clients=clients)

    evidence = evidence_of(tiny, {OURS: [None, of(0.2), of(0.9)]})
    (plot,) = plots_of(Chart("contributions", "", (OURS,)), evidence)
    assert plot["note"] == "ISIC-18: SemiAnAgg, paper's rule, seed 2."
    assert plot["series"] == [
        {"name": "client 1", "xs": [0, 1], "values": [0.2, 0.5]},
        {"name": "client 2", "xs": [0, 1], "values": [0.0, 0]},
    ]


def test_bars_are_scores_in_percent_with_one_deviation_by_who_has_labels(
    tiny: Profile,
) -> None:
    two = setting("isic18", "semianagg", labeled_clients=2)
    evidence = evidence_of(
        tiny, {each: [record(0.5), record(0.7)] for each in (OURS, two)}
    )
    (plot,) = plots_of(Chart("bars", "", (OURS, two), "balanced_accuracy"), evidence)
    bar, other = plot["rows"]
    assert bar["name"] == "1 labeled: SemiAnAgg, paper's rule"
    assert other["name"] == "2 labeled: SemiAnAgg, paper's rule"
    assert plot["note"].startswith("Balanced accuracy in percent")
    # 40 and 60: mean 50, deviation sqrt(200) = 14.142.
    assert bar["value"] == pytest.approx(50) and bar["text"] == "50.0 (n = 2)"
    assert bar["low"] == pytest.approx(50 - 200**0.5)
    assert bar["high"] == pytest.approx(50 + 200**0.5)


def test_who_owns_which_classes_is_a_map_with_a_row_for_each_client(
    tiny: Profile,
) -> None:
    owns = {"0": {"class_count": [3, 0]}, "1": {"class_count": [1, 2]}}
    made = record(0.5, owns=owns, class_names=["cat", 7])
    evidence = evidence_of(tiny, {OURS: [made]})
    (plot,) = plots_of(Chart("classes", "", (OURS,)), evidence)
    assert plot["rows"] == ["0", "1"] and plot["columns"] == ["cat", "7"]
    assert plot["values"] == [[3, 0], [1, 2]]


def without(client: int) -> Setting:
    return Setting("isic18", "semianagg", (), client)


def whole(accuracy: float, *shares: float) -> dict[str, Any]:
    """Make a run with everybody; client k has 10 k images, half of them labeled."""
    ids = range(1, len(shares) + 1)
    clients = {"mean_contribution": dict(zip(map(str, ids), shares, strict=True))}
    owns = {str(k): {"num_labeled": 5 * k, "num_unlabeled": 5 * k} for k in ids}
    return record(accuracy, clients=clients, owns=owns)


def test_what_is_lost_without_a_client_is_a_mean_over_the_seeds_of_both_runs(
    tiny: Profile,
) -> None:
    chart = Chart("leave-one-out", "", (OURS, without(1), without(2)))
    records = {
        OURS: [whole(0.60, 0.1, 0.3), whole(0.70, 0.2, 0.5), None],
        without(1): [record(0.55), record(0.67), record(0.0)],
        without(2): [record(0.62), None, record(0.0)],
    }
    rows, found = leave_one_out(chart, evidence_of(tiny, records))
    # Client 1: 5 and 3 points; client 2: one seed, and it is better without it.
    one, two = rows[1], rows[2]
    assert (one.points.mean, one.points.n) == (pytest.approx(4), 2)
    assert (one.contribution, one.size) == (pytest.approx(0.15), 10)
    assert (two.points.mean, two.points.n) == (pytest.approx(-2), 1)
    assert (two.contribution, two.size) == (pytest.approx(0.3), 20)
    assert found == [], "two clients have no rank correlation"


def test_what_is_lost_has_its_interval_and_seeds(tiny: Profile) -> None:
    chart = Chart("leave-one-out", "", (OURS, without(1), without(2)))
    records = {
        OURS: [whole(0.60, 0.1, 0.3), whole(0.70, 0.2, 0.5)],
        without(1): [record(0.55), record(0.67)],
        without(2): [record(0.62)],
    }
    (plot,) = plots_of(chart, evidence_of(tiny, records))
    one, two = plot["rows"]
    # 5 and 3 points: deviation sqrt(2), so 12.706 * sqrt(2) / sqrt(2) on both sides.
    assert (one["low"], one["high"]) == pytest.approx(
        (4 - 12.706, 4 + 12.706), abs=2e-3
    )
    assert one["seeds"] == 2 and two["seeds"] == 1 and "low" not in two
    assert plot["note"] == (
        "Points of accuracy lost if the client is left out, mean over seeds; the line "
        "is the 95 % interval."
    )


def test_what_is_lost_is_of_the_score_that_the_chart_names(tiny: Profile) -> None:
    run, left = whole(0.60, 0.1), record(0.60)
    left["rounds"]["balanced_accuracy"] = [0.47]
    chart = Chart("leave-one-out", "", (OURS, without(1)), "balanced_accuracy")
    rows, _ = leave_one_out(chart, evidence_of(tiny, {OURS: [run], without(1): [left]}))
    # Balanced accuracy with everybody is ten points below the accuracy: 50.
    assert rows[1].points.mean == pytest.approx(3)


def test_leaving_clients_out_is_correlated_with_shares_and_sizes(
    tiny: Profile,
) -> None:
    chart = Chart("leave-one-out", "", (OURS, *map(without, (1, 2, 3, 4))))
    records = {OURS: [whole(0.60, 0.4, 0.3, 0.2, 0.1)]}
    records |= {without(k): [record(0.60 - 0.01 * k)] for k in (1, 2, 3, 4)}
    evidence = evidence_of(tiny, records)
    _, found = leave_one_out(chart, evidence)
    rho = {(each.a, each.b): each.rho for each in found}
    # The more images the more is lost, while shares fall: 1 and -1 by rank.
    assert rho["Leave one out", "Size"] == pytest.approx(1)
    assert rho["Leave one out", "Contribution"] == pytest.approx(-1)
    (plot,) = plots_of(chart, evidence)
    assert "Leave one out and Size: rank correlation 1.00 (" in plot["note"]
    assert plot["rows"][2]["text"] == ("+3.0, n = 1; 30 images; share 0.200")
    assert plot["rows"][2]["value"] == 3.0
