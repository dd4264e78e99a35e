"""Q11, worked by hand."""

from __future__ import annotations

from typing import Any

from tests.evidence.by_hand import answer, record_of

from fedsemi.evidence.catalogue import setting
from fedsemi.evidence.jobs import job_of
from fedsemi.evidence.profiles import Profile
from fedsemi.evidence.questions import FEW_LABELS
from fedsemi.evidence.results import Evidence
from fedsemi.evidence.short import YES

SCORES = {
    "lower": [0.38, 0.40, 0.39, 0.39, 0.40],
    "cbafed": [0.30, 0.32, 0.31, 0.31, 0.32],
    "cbafed-first-choice": [0.34, 0.36, 0.35, 0.35, 0.36],
}
RIGHT = {
    "lower": [0.0, 0.0],
    "cbafed": [0.03, 0.11],
    "cbafed-first-choice": [None, 0.8],
}


def _records(medium: Profile) -> dict[str, Any]:
    """Let each arm have its scores, and two clients that label 10 and 30 images."""
    records = {}
    for arm, scores in SCORES.items():
        for seed, score in enumerate(scores, start=1):
            job = job_of(setting("isic18", arm, **FEW_LABELS), seed, medium)
            record = record_of(job, score)
            record["clients"] |= {
                "num_pseudo": {"1": [10, 10], "2": [30, 30]},
                "pseudo_label_accuracy": {"1": RIGHT[arm], "2": RIGHT[arm]},
            }
            records[job.key] = record
    return records


def test_it_is_the_second_choice_if_cbafed_is_better_without_it(
    medium: Profile,
) -> None:
    found = answer("q11", Evidence(medium, 5, _records(medium)))
    rows = {row[0]: row for row in found.rows}
    without = "CBAFed without the second choice − "
    assert rows[f"{without}CBAFed as published, ISIC-18"][2].startswith("+4.00 (")
    assert rows[f"{without}labels only, ISIC-18"][2].startswith("−4.00 (")
    assert rows["CBAFed as published − labels only, ISIC-18"][2].startswith("−8.00 (")
    assert [part.word for part in found.parts] == [YES]


def test_how_right_pseudo_labels_are_stands_beside_it(medium: Profile) -> None:
    found = answer("q11", Evidence(medium, 5, _records(medium)))
    assert (
        "CBAFed as published: accuracy 31.2 %; of its pseudo-labels 3 % are right in "
        "the first round and 11 % are right in the last."
    ) in found.text
    assert (
        "CBAFed without the second choice: accuracy 35.2 %; of its pseudo-labels there "
        "are none in the first round and 80 % are right in the last."
    ) in found.text
    assert found.head[-1] == "by other metrics"
    assert found.rows[0][-1].startswith("accuracy +4.00 (")


def test_the_arm_differs_from_the_published_one_in_that_rule_alone(
    medium: Profile,
) -> None:
    ours, theirs = (
        job_of(setting("isic18", arm, **FEW_LABELS), 1, medium).experiment.model_dump()
        for arm in ("cbafed-first-choice", "cbafed")
    )
    last, usual = ours["stages"][-1], theirs["stages"][-1]
    assert (last.pop("rare_below"), usual.pop("rare_below")) == (0.0, 0.03)
    assert ours == theirs
