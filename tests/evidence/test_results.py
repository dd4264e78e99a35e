"""Tables from records, with numbers by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from tests.evidence import made

from fedsemi.evidence.catalogue import Artifact, Cell, Setting, setting
from fedsemi.evidence.jobs import job_of
from fedsemi.evidence.profiles import Profile
from fedsemi.evidence.render import as_csv, as_markdown
from fedsemi.evidence.results import Evidence

ARMS = {"warm-up": 66.25, "upper": 80.78, "fedavg-semi": 67.79, "semianagg": 72.24}
OURS = {
    "warm-up": (0.40, 0.42),
    "upper": (0.80, 0.82),
    "fedavg-semi": (0.55, 0.57),
    "semianagg": (0.60, 0.64),
}


def record(accuracy: float) -> dict[str, Any]:
    """Six tests, of which the last five count."""
    tests = {"stage": [1] * 6, "round": list(range(6))}
    return {
        "config": {"guard": {"enabled": False}},
        "rounds": {**tests, "accuracy": [0.0] + [accuracy] * 5},
    }


def evidence_of(profile: Profile) -> Evidence:
    records = {}
    for arm, values in OURS.items():
        for seed, value in enumerate(values, start=1):
            one = setting("isic18", arm)
            job = job_of(one, seed, profile)
            records[job.key] = record(value)
    return Evidence(profile, 2, records)


def artifact() -> Artifact:
    cells = [Cell(a, setting("isic18", a), "accuracy", p) for a, p in ARMS.items()]
    return Artifact("table0", "Four rows", tuple(cells))


def test_paper_ours_gap_and_verdict_stand_side_by_side(tiny: Profile) -> None:
    *_, semi, ours = evidence_of(tiny).lines(artifact())
    assert ours.ours is not None and round(ours.ours.mean, 6) == 62.0
    # (62 - 41) / (81 - 41), and (72.24 - 66.25) / (80.78 - 66.25) in the paper.
    assert ours.gap is not None and round(ours.gap, 6) == 0.525
    assert ours.paper_gap is not None and round(ours.paper_gap, 4) == 0.4123
    # Differences 5 and 7: the interval 6 ± 12.706 includes zero.
    assert semi.verdict == "SemiAnAgg +6.0, undecided (paper +4.45)"


def test_the_gap_is_measured_from_the_warm_up(tiny: Profile) -> None:
    # Labeled only for all rounds would be 45: (62 - 45) / (81 - 45) is another share.
    evidence = evidence_of(tiny)
    job = job_of(setting("isic18", "lower"), 1, tiny)
    more = Evidence(tiny, 2, {**evidence.records, job.key: record(0.45)})
    assert more.lines(artifact())[-1].gap == evidence.lines(artifact())[-1].gap


def test_a_number_names_its_seeds_and_profile(tiny: Profile) -> None:
    text = as_markdown(artifact(), evidence_of(tiny))
    assert "| 72.24 | 62.0 ± 2.8 (2 seeds, smoke) | 52% (paper 41%) |" in text
    assert "not the paper's scale" in text
    assert "Guard off" in text


def test_what_was_not_run_is_called_so(tiny: Profile) -> None:
    lines = Evidence(tiny, 1, {}).lines(artifact())
    assert {line.verdict for line in lines} == {"not run"}
    assert "not run" in as_csv(artifact(), Evidence(tiny, 1, {}))


def test_the_upper_bound_ignores_who_has_labels() -> None:
    part = Setting("svhn", "semianagg", (("labeled_fraction", 0.1), ("num_clients", 5)))
    assert part.bound("upper") == setting("svhn", "upper", num_clients=5)
    assert part.bound("warm-up").partition == part.partition


OURS_ALONE, SEMI = setting("isic18", "semianagg"), setting("isic18", "fedavg-semi")


def test_methods_are_compared_on_the_seeds_that_both_have(tiny: Profile) -> None:
    evidence = made.evidence_of(
        tiny,
        {
            OURS_ALONE: [made.record(0.6), made.record(0.7), None],
            SEMI: [None, made.record(0.5), made.record(0.1)],
        },
    )
    cells = (Cell("x", OURS_ALONE), Cell("y", SEMI))
    table = Artifact("table0", "", cells, tests=(OURS_ALONE,))
    accuracy, balanced = evidence.comparisons(table)
    assert (accuracy.metric, balanced.metric) == ("accuracy", "balanced_accuracy")
    assert accuracy.other == SEMI and accuracy.test.n == 1
    assert accuracy.test.mean == pytest.approx(20)
    assert list(accuracy.test.each) == [2], "the number of the seed, not its place"


def test_a_method_is_not_compared_across_data_sets_or_partitions(tiny: Profile) -> None:
    other_data = setting("svhn", "fedavg-semi")
    other_part = setting("isic18", "fedavg-semi", num_clients=5)
    every = (OURS_ALONE, other_data, other_part, setting("isic18", "upper"))
    evidence = made.evidence_of(tiny, {each: [made.record(0.5)] for each in every})
    cells = tuple(Cell("x", each) for each in every)
    table = Artifact("table0", "", cells, tests=(OURS_ALONE,))
    assert {each.other.arm for each in evidence.comparisons(table)} == {"upper"}


def test_the_gap_is_that_of_the_seeds_that_method_and_bounds_have(
    tiny: Profile,
) -> None:
    record = made.record
    evidence = made.evidence_of(
        tiny,
        {
            setting("isic18", "warm-up"): [record(0.2), record(0.4)],
            setting("isic18", "upper"): [record(0.8), None],
            OURS_ALONE: [record(0.5), record(0.9)],
        },
    )
    (line,) = evidence.lines(Artifact("t", "", (Cell("x", OURS_ALONE),)))
    # Seed 1 alone: (50 - 20) / (80 - 20). The score is the mean of both seeds.
    assert line.gap == pytest.approx(0.5)
    assert line.ours is not None and line.ours.mean == pytest.approx(70)


@pytest.mark.parametrize(("best", "told"), [(0.75, True), (0.85, False)])
def test_where_a_method_is_above_all_labels_no_row_says_a_gap(
    tiny: Profile, best: float, told: bool
) -> None:
    record = made.record
    warm_up, ours, semi, few = (
        setting("isic18", arm, labeled_fraction=0.1)
        for arm in ("warm-up", "semianagg", "fedavg-semi", "upper")
    )
    evidence = made.evidence_of(
        tiny,
        {
            warm_up: [record(0.2)],
            setting("isic18", "upper"): [record(0.8)],
            # All labels of another table: above the bound, and no method.
            few: [record(0.9)],
            ours: [record(0.5)],
            semi: [record(best)],
        },
    )
    cells = (Cell("ours", ours), Cell("semi", semi), Cell("upper", few))
    first, second, _ = evidence.lines(Artifact("t", "", cells))
    assert (first.gap is not None, second.gap is not None) == (told, told)


def test_without_a_bound_there_is_no_gap(tiny: Profile) -> None:
    evidence = made.evidence_of(tiny, {OURS_ALONE: [made.record(0.5)]})
    (line,) = evidence.lines(Artifact("t", "", (Cell("x", OURS_ALONE, paper=70.0),)))
    assert line.gap is None and line.paper_gap is None


def test_a_probe_is_a_number_without_gap_and_verdict(tiny: Profile) -> None:
    encoder = setting("isic18", "fedbarlow")
    probed = made.record(0.9, probe={"all": {"accuracy": 0.5}})
    evidence = made.evidence_of(tiny, {encoder: [probed]})
    cell = Cell("x", encoder, paper=59.91, source="probe-all")
    (line,) = evidence.lines(Artifact("t", "", (cell,)))
    assert line.ours is not None and line.ours.mean == 50
    assert (line.gap, line.paper_gap, line.verdict) == (None, None, "")


def test_a_variant_of_ours_is_not_held_against_the_papers_number(
    tiny: Profile,
) -> None:
    # The paper has one number for both rules, so their difference is no claim.
    released = setting("isic18", "semianagg-released")
    both = {OURS_ALONE: [made.record(0.6)], released: [made.record(0.5)]}
    cells = (Cell("x", OURS_ALONE, paper=72.24), Cell("y", released, paper=72.24))
    _, line = made.evidence_of(tiny, both).lines(Artifact("t", "", cells))
    assert line.verdict == "SemiAnAgg +10.0, one seed"


def test_the_upper_bound_is_compared_with_the_partition_of_its_table(
    tiny: Profile,
) -> None:
    part = setting("isic18", "semianagg", labeled_fraction=0.1)
    upper = setting("isic18", "upper")
    both = {part: [made.record(0.6)], upper: [made.record(0.8)]}
    cells = (Cell("u", upper, paper=80.78), Cell("x", part, paper=70.39))
    line, _ = made.evidence_of(tiny, both).lines(Artifact("t", "", cells))
    assert line.verdict == "SemiAnAgg -20.0, one seed (paper -10.39)"


def test_records_of_other_settings_are_not_found(tiny: Profile) -> None:
    evidence = made.evidence_of(tiny, {SEMI: [made.record(0.5)]})
    assert evidence.found(OURS_ALONE) == {}
    assert evidence.scores(SEMI, "accuracy") == {1: pytest.approx(50)}


def of_seeds(profile: Profile, **seeds: int) -> Evidence:
    """Give arms so many seeds, of which those beyond the second are better."""
    values = [0.60, 0.62, 0.80, 0.90]
    records = {
        setting("isic18", arm.replace("_", "-")): [made.record(v) for v in values[:n]]
        for arm, n in seeds.items()
    }
    return made.evidence_of(profile, records)


def test_a_line_has_no_more_seeds_than_are_planned(tiny: Profile) -> None:
    # A stopping rule may give two arms more: means over them stand beside none.
    two = replace(tiny, seeds=2)
    evidence = of_seeds(two, warm_up=2, upper=2, fedavg_semi=4, semianagg=4)
    *_, semi, ours = evidence.lines(artifact())
    assert ours.ours is not None and ours.ours.n == 2
    assert ours.ours.mean == pytest.approx(61)  # of 60 and 62
    # A difference has all seeds, and says how many where the line has fewer.
    assert semi.verdict == "SemiAnAgg +0.0, undecided, 4 seeds (paper +4.45)"
    assert ",2,61.0," in as_csv(artifact(), evidence)


@pytest.mark.parametrize(
    ("profile", "stated", "uniform", "ours", "shown"),
    [
        (2, 0, 4, 2, 2),  # one arm went on alone
        (2, 0, 3, 3, 3),  # more were asked for, and all have them
        (4, 0, 2, 2, 4),  # fewer: what is there is shown
        (2, 3, 4, 2, 3),  # the table's own number
        (4, 1, 4, 2, 1),
        (0, 0, 3, 2, 3),  # a config of one's own has as many as are asked for
    ],
)
def test_a_table_shows_the_seeds_that_are_planned_or_that_all_have(
    tiny: Profile, profile: int, stated: int, uniform: int, ours: int, shown: int
) -> None:
    evidence = of_seeds(replace(tiny, seeds=profile), uniform=uniform, semianagg=ours)
    every = [setting("isic18", arm) for arm in ("uniform", "semianagg", "lower")]
    assert evidence.planned(every, stated) == shown
