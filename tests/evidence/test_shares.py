"""How far shares are from equal ones, and who is alone, worked by hand."""

from __future__ import annotations

from typing import Any

import pytest
from tests.evidence.by_hand import evidence_of, mnist

from fedsemi.evidence.catalogue import setting
from fedsemi.evidence.profiles import Profile
from fedsemi.evidence.questions import MAIN
from fedsemi.evidence.shares import (
    apart,
    apart_sentence,
    lonely_site,
    moved,
    moved_sentence,
)


def with_shares(**shares: list[float | None]) -> dict[str, Any]:
    return {"clients": {"contribution": shares}}


def test_what_is_moved_is_half_of_all_distances_from_equal_shares() -> None:
    # Of 0.5 each has 0.25; 0.1 is taken from one and given to the other.
    assert moved(with_shares(a=[0.35], b=[0.15])) == pytest.approx(0.1)
    # A second round with equal shares halves it, a site that is away does not count.
    rounds = with_shares(a=[0.35, 0.25], b=[0.15, 0.25], c=[None, None])
    assert moved(rounds) == pytest.approx(0.05)


def test_without_unlabeled_sites_nothing_is_moved() -> None:
    assert moved(with_shares()) is None
    assert moved(with_shares(a=[None])) is None


def test_a_sentence_says_the_least_and_the_most_over_seeds(medium: Profile) -> None:
    evidence = evidence_of(medium, mnist(semianagg=[0.8, 0.8]))
    for record, gap in zip(evidence.records.values(), (0.02, 0.1), strict=True):
        shares = {"1": [0.25 + gap], "2": [0.25 - gap]}
        record["clients"]["contribution"] = shares
    ours = setting("mnist", "semianagg", **MAIN)
    assert moved_sentence(evidence, ours, "1 of nine") == (
        "SemiAnAgg gives 2.0 to 10.0 % of the whole weight to other sites than equal "
        "shares would, on MNIST, "
        "1 of nine (2 seeds)."
    )
    assert moved_sentence(evidence_of(medium, {}), ours) == ""


def test_shares_are_apart_by_what_goes_to_different_sites() -> None:
    one = with_shares(a=[0.3, 0.2], b=[0.2, 0.3], c=[None, None])
    other = with_shares(a=[0.1, 0.2], b=[0.4, 0.3], c=[None, None])
    assert apart(one, other) == pytest.approx(0.1)  # 0.2 in one of two rounds
    assert apart(one, one) == 0
    assert apart(with_shares(), with_shares()) is None


def test_a_sentence_says_how_far_two_rules_are_apart(medium: Profile) -> None:
    evidence = evidence_of(medium, mnist(semianagg=[0.8, 0.8], presence=[0.8]))
    for record in evidence.records.values():
        lead = 0.02 if record["arm"] == "presence" else 0.0
        shares = {"1": [0.25 + lead], "2": [0.25 - lead]}
        record["clients"]["contribution"] = shares
    ours, other = (setting("mnist", arm, **MAIN) for arm in ("semianagg", "presence"))
    assert apart_sentence(evidence, ours, other) == (
        "The shares of SemiAnAgg and of presence differ by 2.0 % of the whole weight, "
        "on MNIST (1 seed)."
    )
    assert apart_sentence(evidence_of(medium, {}), ours, other) == ""


def test_the_lonely_site_is_the_one_whose_classes_nobody_else_has() -> None:
    def own(*counts: int, labeled: int = 0) -> dict[str, object]:
        unlabeled = 0 if labeled else sum(counts)
        return {"num_unlabeled": unlabeled, "class_count": list(counts)}

    owns = {"0": own(9, 9, 9, labeled=27), "1": own(5, 0, 1), "2": own(5, 0, 1)}
    assert lonely_site(owns | {"3": own(1, 4, 0)}) == "3"
