"""Q5, worked by hand."""

from __future__ import annotations

from tests.evidence.by_hand import Scores, answer, evidence_of

from fedsemi.evidence.profiles import Profile
from fedsemi.evidence.questions import QUESTIONS


def test_worth_is_a_rank_correlation_over_sites_in_each_seed(medium: Profile) -> None:
    whole, *rest = QUESTIONS["q5"].settings
    # Shares fall with the number of the site, and so does what is lost without it.
    scores: Scores = {whole: [0.80, 0.80]}
    scores |= {each: [0.70 + 0.01 * i, None] for i, each in enumerate(rest)}
    found = answer("q5", evidence_of(medium, scores))
    assert "by the global model: +1.00 (1 of 5 seeds so far)" in found.text[0]
    first = "the lonely site is first in both in 1 of 1 seeds"
    assert found.finding == f"rank correlation one seed only; {first}"
    assert found.text[-1] == f"{first.capitalize()}."
    assert found.rows == (
        ("1", "+1.00", "+1.00", "0.100 (1)", "+10.00 (1)", "+10.00 (1)"),
    )


def test_a_seed_without_one_of_its_nine_runs_does_not_count(medium: Profile) -> None:
    whole, *rest = QUESTIONS["q5"].settings
    scores: Scores = {whole: [0.8]} | {each: [0.7] for each in rest[1:]}
    found = answer("q5", evidence_of(medium, scores))
    assert found.text == ("No seed has all nine runs yet (0 of 5 seeds so far).",)
