"""Sentences of an audit: what to do about the shares, and where they act."""

from __future__ import annotations

from dataclasses import replace

from fedsemi.valuation.audit_words import verdict, where
from fedsemi.valuation.update_space import Place
from fedsemi.valuation.weight_audit import Audit, Row

PLACE = Place(
    moved={"stem": 0.1, "head": 0.4},
    part={"stem": 0.3, "head": 0.7},
    classes=(0.7, 0.1, 0.1, 0.1),
    whole=0.25,
    step_cosine=0.97,
    labeled_cosine=-0.4,
)
NAMES = ("cat", "dog", "emu", "fox")


def audited(*shares: float, gain: float = 0.0) -> Audit:
    equal = sum(shares) / len(shares)
    rows = tuple(
        Row(1, k, share, equal, 1.0, (3.0, 1.0, 2.0)[k % 3], 10.0 * (k + 1))
        for k, share in enumerate(shares)
    )
    return Audit("some-method", rows, (0.5 + gain, 0.5), (0.5, 0.5))


def test_almost_equal_shares_are_said_to_do_as_well():
    # Of two rounds, one has these rows: half of .01 is moved.
    text = verdict(audited(0.26, 0.24, 0.25, 0.25))
    assert text.startswith("some-method moves 0.5% of the mean away from equal shares:")
    assert "equal shares would do as well" in text


def test_shares_that_follow_one_number_are_told_to_use_it():
    text = verdict(audited(0.1, 0.2, 0.3, 0.4, gain=0.02))
    assert "size alone explains 100% of that: weigh by it" in text
    assert "+1.00 points of accuracy within a round (ahead in 1 of 2)" in text


def test_other_shares_are_explained_by_all_three_together():
    text = verdict(audited(0.5, 0.1, 0.3, 0.0, 0.05, 0.05))
    assert "presence, counts and size explain" in text and "together" in text


def test_layers_classes_and_direction_are_named():
    assert where(PLACE, NAMES) == (
        "They change the step of a round by 25.0% of its length, 70% of that in head, "
        "within the head most in the rows of cat 70%; that is away from the labeled "
        "site's step (cosine -0.40)."
    )


def test_rows_that_are_moved_alike_are_not_named():
    even = replace(PLACE, classes=(0.25,) * 4, labeled_cosine=0.05)
    assert "rows" not in where(even, NAMES)
    assert "neither towards the labeled site's step nor away" in where(even, NAMES)


def test_without_a_labeled_site_the_two_steps_are_compared():
    text = where(replace(PLACE, labeled_cosine=None), NAMES)
    assert text.endswith("both steps have a cosine of 0.97.")


def test_equal_shares_act_nowhere():
    assert where(None, NAMES).startswith("Nowhere in the update")
