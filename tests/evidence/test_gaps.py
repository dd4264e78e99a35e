"""Which part of a gap an arm closes, in words, by numbers that are easy to check."""

from __future__ import annotations

import pytest
from tests.evidence.by_hand import evidence_of, svhn

from fedsemi.evidence.catalogue import setting
from fedsemi.evidence.gaps import gap_said
from fedsemi.evidence.profiles import Profile

OURS = setting("svhn", "semifl")


@pytest.mark.parametrize(
    ("ours", "said"),
    [
        (
            0.75,
            "turns close 25 % of the gap between warm-up (70.0 %) and all labels "
            "(90.0 %; 1 seed)",
        ),
        (
            0.65,
            "turns (65.0 %) are below the warm-up (70.0 %; all labels 90.0 %, 1 seed)",
        ),
        (
            0.95,
            "the model with all labels (90.0 %, 1 seed) is no upper bound: turns reach "
            "95.0 %, the warm-up 70.0 %",
        ),
    ],
)
def test_it_is_said_where_an_arm_stands_between_the_bounds(
    ours: float, said: str, medium: Profile
) -> None:
    scores = svhn(semifl=[ours], warm_up=[0.7], upper=[0.9])
    evidence = evidence_of(medium, scores)
    assert gap_said(evidence, OURS, "turns", "accuracy") == said


def test_only_seeds_that_the_bounds_have_are_counted(medium: Profile) -> None:
    scores = svhn(semifl=[0.8, 0.9, 0.1], warm_up=[0.7, 0.7], upper=[0.9, 0.9, 0.9])
    said = gap_said(evidence_of(medium, scores), OURS, "turns", "accuracy")
    assert said.startswith("turns close 75 % of the gap") and "2 seeds" in said


def test_nothing_is_said_without_a_bound(medium: Profile) -> None:
    evidence = evidence_of(medium, svhn(semifl=[0.8], warm_up=[0.7]))
    assert gap_said(evidence, OURS, "turns", "accuracy") == ""
