"""Sentences of an audit: what to do about the shares, and where they act."""

from __future__ import annotations

from dataclasses import replace

import pytest

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


def audited(*shares: float, gains: tuple[float, ...] = (0.02, 0.0, 0.01)) -> Audit:
    """Clients with 10, 20, … images, in the first of so many rounds."""
    equal = sum(shares) / len(shares)
    rows = tuple(
        Row(2, k, share, equal, 1.0, (3.0, 1.0, 2.0)[k % 3], 10.0 * (k + 1), "both")
        for k, share in enumerate(shares)
    )
    own = tuple(0.5 + gain for gain in gains)
    return Audit("some-method", rows, own, (0.5,) * len(gains))


def test_almost_equal_shares_are_said_to_do_as_well():
    # Of three rounds, one has these rows: a third of .01 is moved.
    text = verdict(audited(0.26, 0.24, 0.25, 0.25))
    assert text.startswith("some-method moves 0.3% of the mean away from equal shares;")
    assert "equal shares would do as well" in text


def test_shares_that_gain_and_follow_one_number_name_it_and_its_direction():
    assert verdict(audited(0.1, 0.2, 0.3, 0.4)) == (
        "some-method moves 6.7% of the mean away from equal shares; sites with more "
        "images get more, and size alone explains 100% of that, so a rule by size may "
        "do; they were worth +1.00 points of accuracy within a round (ahead in 2 of 3)."
    )


def test_shares_that_fall_with_a_number_say_fewer():
    text = verdict(audited(0.4, 0.3, 0.2, 0.1))
    assert "sites with fewer images get more, and size alone explains 100%" in text


def test_other_shares_that_gain_are_explained_by_all_three_together():
    text = verdict(audited(0.5, 0.1, 0.3, 0.0, 0.05, 0.05))
    assert "presence, counts and size explain" in text and "together" in text


def test_a_number_that_tells_one_site_from_all_others_is_no_rule():
    # The first has by far most images and the largest share; of the others, those
    # with more images have less: ranks 6, 1, 2, 3, 4, 5 and 6, 5, 4, 3, 2, 1.
    shares, sizes = (
        (0.75, 0.03, 0.04, 0.05, 0.06, 0.07),
        (99.0, 5.0, 4.0, 3.0, 2.0, 1.0),
    )
    found = audited(*shares)
    rows = zip(found.rows, sizes, strict=True)
    found = replace(found, rows=tuple(replace(r, size=s, counts=1.0) for r, s in rows))
    assert found.explained("size") == pytest.approx(1, abs=0.01)
    assert found.ranked("size") == pytest.approx(-1 / 7)
    assert "size alone" not in verdict(found)


@pytest.mark.parametrize(
    ("gains", "advice"),
    [
        ((-0.01, -0.02, -0.03), "equal shares did better in 3 of 3 rounds: use them"),
        ((0.0, 0.0), "equal shares did as well in 2 of 2 rounds: use them"),
        ((0.0, -0.01, 0.01), "did better or as well in 2 of 3 rounds: use them"),
        ((0.001, 0.001, -0.001), "equal shares did as well on average: use them"),
    ],
)
def test_shares_that_lose_or_tie_are_advised_against_whatever_explains_them(
    gains, advice
):
    text = verdict(audited(0.1, 0.2, 0.3, 0.4, gains=gains))
    assert advice in text and "explain" not in text


@pytest.mark.parametrize(
    ("gains", "advice"),
    [
        (
            (-0.01, -0.01, 0.08),
            "better in 2 of 3 rounds, but worse on average: look at",
        ),
        ((0.01, 0.01, -0.08), "better on average, but worse in 2 of 3 rounds: look at"),
    ],
)
def test_where_most_rounds_and_their_mean_disagree_more_rounds_are_asked_for(
    gains, advice
):
    text = verdict(audited(0.1, 0.2, 0.3, 0.4, gains=gains))
    assert f"equal shares did {advice} more rounds" in text


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
