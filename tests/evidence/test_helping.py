"""What a comparison says about unlabeled sites, method by method."""

from __future__ import annotations

from typing import Any

import pytest
from tests.evidence.made import evidence_of, record

from fedsemi.config.experiment import make_experiment
from fedsemi.evidence.catalogue import Setting
from fedsemi.evidence.compare import OwnConfig, comparison_of
from fedsemi.evidence.helping import sentences

CONFIG = {
    "stages": [
        {"method": "supervised", "rounds": 2},
        {"method": "semianagg", "rounds": 2, "learner": {"cutoff": 0.95}},
    ]
}
OWNS = {"0": {"num_labeled": 9}, "1": {"num_labeled": 0}}


def a_record(accuracy: float, model: str, silent: int = 0) -> dict[str, Any]:
    silence = {"silent": silent, "asked": 2, "num_pseudo": 0 if silent else 7}
    return record(
        accuracy, model_sha256=model, silence=silence, config=CONFIG, owns=OWNS
    )


LOWER = Setting("synthetic", "lower")
UNIFORM = Setting("synthetic", "uniform-semi")
OURS = Setting("synthetic", "semianagg")


@pytest.fixture
def own(small_config: dict[str, Any]) -> OwnConfig:
    return OwnConfig("small", make_experiment(small_config))


def test_each_method_is_measured_against_labels_alone_seed_by_seed(
    own: OwnConfig,
) -> None:
    found = evidence_of(
        own,
        {
            LOWER: [a_record(0.50, "a1"), a_record(0.60, "a2")],
            OURS: [a_record(0.60, "b1"), a_record(0.71, "b2")],
        },
    )
    # Differences of 10 and 11 points: 10.5 with a standard error of 0.5, and the t of
    # one degree of freedom is 12.706.
    assert sentences([LOWER, OURS], found) == [
        "semianagg: The unlabeled sites helped: accuracy 65.5 %, with labels alone "
        "55.0 % (+10.5 points, 95 % interval +4.1 to +16.9 over 2 seeds)."
    ]


def test_one_seed_has_no_interval_and_no_lower_row_no_answer(own: OwnConfig) -> None:
    found = evidence_of(own, {LOWER: [a_record(0.5, "a")], OURS: [a_record(0.6, "b")]})
    (one,) = sentences([LOWER, OURS], found)
    assert one.startswith("semianagg: How sure it is that the unlabeled sites helped")
    assert one.endswith("(+10.0 points; one seed has no interval, several have).")
    (none,) = sentences([OURS], found)
    assert "no model of the labels alone is there; compare with lower" in none


def test_methods_that_ended_in_the_same_model_are_told_together_with_the_reason(
    own: OwnConfig,
) -> None:
    runs = [a_record(0.5, "x1", silent=2), a_record(0.6, "x2", silent=2)]
    found = evidence_of(own, {LOWER: runs, UNIFORM: runs, OURS: runs})
    assert sentences([LOWER, UNIFORM, OURS], found) == [
        "uniform-semi, semianagg: The unlabeled sites did not help: none of them "
        "contributed in 4 of 4 rounds, as no pseudo-label was confident enough; lower "
        "stages.1.learner.cutoff (now 0.95) or give the warm-up more rounds "
        "(stages.0.rounds, now 2). They ended in the same model, bit for bit."
    ]


def test_the_verdict_on_the_same_bits_is_not_undecided(own: OwnConfig) -> None:
    runs = [a_record(0.5, "x1", silent=2), a_record(0.6, "x2", silent=2)]
    found = evidence_of(own, {UNIFORM: runs, OURS: runs})
    made = comparison_of(own, ["uniform-semi", "semianagg"])
    verdicts = {line.cell.row: line.verdict for line in found.lines(made)[:3]}
    assert verdicts["uniform-semi"] == "SemiAnAgg +0.0, the same model"


def test_records_of_older_versions_do_not_tell_who_contributed(own: OwnConfig) -> None:
    older = a_record(0.6, "b")
    del older["silence"]
    found = evidence_of(own, {OURS: [older]})
    assert "cannot be said" in sentences([OURS], found)[0]
