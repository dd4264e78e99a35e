"""Q5, worked by hand."""

from __future__ import annotations

from tests.evidence.by_hand import Scores, answer, evidence_of

from fedsemi.evidence.profiles import Profile
from fedsemi.evidence.questions import QUESTIONS
from fedsemi.evidence.short import ALSO, OPEN, YES


def test_worth_is_a_rank_correlation_over_sites_in_each_seed(medium: Profile) -> None:
    whole, *rest = QUESTIONS["q5"].settings
    # Shares fall with the number of the site, and so does what is lost without it.
    scores: Scores = {whole: [0.80, 0.80]}
    scores |= {each: [0.70 + 0.01 * i, None] for i, each in enumerate(rest)}
    found = answer("q5", evidence_of(medium, scores))
    assert "by the global model: +1.00 (1 of 5 seeds so far)" in found.text[0]
    first = "the lonely site is first in both in 1 of 1 seeds"
    assert found.finding == f"rank correlation one seed only; {first}"
    assert f"{first.capitalize()}." in found.text
    assert found.rows == (
        ("1", "+1.00", "+1.00", "0.100 (1)", "+10.00 (1)", "+10.00 (1)"),
    )
    order, lonely = found.parts
    assert (order.word, lonely.word) == (OPEN, ALSO)  # one seed of five
    assert order.told.endswith("+1.00, so far")


def test_the_lonely_site_and_the_order_of_all_are_told_apart(medium: Profile) -> None:
    whole, lonely, *rest = QUESTIONS["q5"].settings
    # Without the lonely site most is lost; of the others, in every second seed, the
    # first ones and in every other the last ones.
    scores: Scores = {whole: [0.80] * 6, lonely: [0.50] * 6}
    scores |= {
        each: [0.7 + (i if seed % 2 else -i) / 100 for seed in range(6)]
        for i, each in enumerate(rest)
    }
    found = answer("q5", evidence_of(medium, scores))
    order, first = found.parts
    assert (order.word, first.word) == (OPEN, ALSO)
    assert first.told.endswith("first in both in 6 of 6 seeds")


def test_the_order_of_the_others_is_told_without_the_lonely_site(
    medium: Profile,
) -> None:
    whole, lonely, *rest = QUESTIONS["q5"].settings
    # Most is lost without the lonely site; of the others, most without the last ones,
    # which have the smallest shares.
    scores: Scores = {whole: [0.80] * 2, lonely: [0.50] * 2}
    scores |= {each: [0.7 - i / 100] * 2 for i, each in enumerate(rest)}
    found = answer("q5", evidence_of(medium, scores))
    said = "Without the lonely site, by the global model: −1.00 (−1.00 to −1.00)"
    assert any(text.startswith(said) for text in found.text)
    assert found.rows[0][1] != "−1.00"


def test_a_rank_correlation_above_zero_is_a_yes(medium: Profile) -> None:
    whole, *rest = QUESTIONS["q5"].settings
    scores: Scores = {whole: [0.80] * 5}
    scores |= {each: [0.70 + 0.01 * i] * 5 for i, each in enumerate(rest)}
    assert answer("q5", evidence_of(medium, scores)).parts[0].word == YES


def test_a_seed_without_one_of_its_nine_runs_does_not_count(medium: Profile) -> None:
    whole, *rest = QUESTIONS["q5"].settings
    scores: Scores = {whole: [0.8]} | {each: [0.7] for each in rest[1:]}
    found = answer("q5", evidence_of(medium, scores))
    assert found.text == ("No seed has all nine runs yet (0 of 5 seeds so far).",)
