"""What a benchmark found: scores, differences, ranks and cost from records."""

from __future__ import annotations

from typing import Any

import pytest
from tests.evidence.made import evidence_of, record

from fedsemi.evidence.benchmark import Benchmark
from fedsemi.evidence.profiles import Profile
from fedsemi.evidence.results import Evidence
from fedsemi.evidence.standing import Row, standing

LAC = Benchmark("LAC", "svhn", ("lower", "uniform", "sage", "semianagg"), "uniform")


def ran(accuracy: float, **more: Any) -> dict[str, Any]:
    facts = {"seconds": 600.0, "cpu_seconds": 60.0, "bytes_sent": 2_000_000}
    return record(accuracy, **{**facts, **more})


@pytest.fixture
def evidence(medium: Profile) -> Evidence:
    return evidence_of(
        medium,
        {
            LAC.setting("lower"): [ran(0.5), ran(0.5)],
            LAC.setting("uniform"): [ran(0.6), ran(0.7)],
            LAC.setting("sage"): [ran(0.7, cpu_seconds=120.0), ran(0.8)],
        },
    )


def rows(evidence: Evidence) -> dict[str, Row]:
    return {row.arm: row for row in standing(LAC, evidence).rows}


def test_bounds_come_first_then_methods_by_their_accuracy(evidence: Evidence) -> None:
    assert list(rows(evidence)) == ["lower", "sage", "uniform", "semianagg"]


def test_who_has_fewer_seeds_comes_last_however_good_these_are(
    medium: Profile,
) -> None:
    scores = {
        LAC.setting("sage"): [ran(0.9)],
        LAC.setting("uniform"): [ran(0.8), ran(0.6)],
        LAC.setting("semianagg"): [ran(0.81), ran(0.62)],
    }
    found = [row.arm for row in standing(LAC, evidence_of(medium, scores)).rows]
    assert found == ["lower", "semianagg", "uniform", "sage"]


def test_rows_have_no_more_seeds_than_the_profile_plans(medium: Profile) -> None:
    # LC shares runs with a question that gives two arms more than the five planned.
    scores = {
        LAC.setting("sage"): [ran(0.7)] * 5,
        LAC.setting("uniform"): [ran(0.6)] * 5 + [ran(0.9)] * 2,
        LAC.setting("semianagg"): [ran(0.65)] * 5 + [ran(0.9)] * 2,
    }
    found = {r.arm: r for r in standing(LAC, evidence_of(medium, scores)).rows}
    assert list(found) == ["lower", "sage", "semianagg", "uniform"]
    for arm, mean in {"uniform": 60, "semianagg": 65}.items():
        accuracy = found[arm].accuracy
        assert accuracy is not None and accuracy.n == 5
        assert accuracy.mean == pytest.approx(mean)
    against = found["semianagg"].against
    assert against is not None and (against.n, round(against.mean, 6)) == (5, 5.0)


def test_differences_to_the_reference_are_paired_by_seed(evidence: Evidence) -> None:
    found = rows(evidence)
    assert found["uniform"].against is None
    against = found["sage"].against
    assert against is not None and against.mean == pytest.approx(10)
    assert against.sd == pytest.approx(0, abs=1e-9)


def test_bounds_and_what_was_not_run_have_no_rank(evidence: Evidence) -> None:
    found = rows(evidence)
    assert found["lower"].rank is None and found["semianagg"].rank is None
    assert (found["sage"].rank, found["uniform"].rank) == (1.0, 2.0)


def test_the_cost_is_that_of_the_fastest_seed(evidence: Evidence) -> None:
    found = rows(evidence)["sage"]
    assert found.seconds == 60 and found.bytes_sent == 2_000_000


def test_seconds_on_the_wall_are_no_cost(medium: Profile) -> None:
    old = ran(0.6)
    del old["cpu_seconds"]
    found = standing(LAC, evidence_of(medium, {LAC.setting("sage"): [old]}))
    assert found.rows[1].seconds is None


def test_bytes_of_an_older_record_are_counted_where_all_answer_once_a_round(
    medium: Profile,
) -> None:
    def sent(method: str) -> float | None:
        stage = {"method": method, "rounds": 30, "participation": 1.0}
        config = {"stages": [stage], "model": {"name": "resnet8", "width": 16}}
        owns = {id: {"num_labeled": 9 * (id == "0")} for id in "0123"}
        old = ran(0.6, config=config, class_names=["0"] * 10, owns=owns)
        del old["bytes_sent"]
        found = standing(LAC, evidence_of(medium, {LAC.setting("sage"): [old]}))
        return found.rows[1].bytes_sent

    # About 310 kB for each of 4 clients, or of one with labels, in each of 30 rounds.
    assert sent("semianagg") == pytest.approx(4 * 30 * 310e3, rel=0.05)
    assert sent("supervised") == pytest.approx(30 * 310e3, rel=0.05)
    assert sent("rscfed") is None


def test_nothing_was_found_before_anything_ran(medium: Profile) -> None:
    assert not standing(LAC, evidence_of(medium, {})).ran
