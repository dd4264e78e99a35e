"""Q4, worked by hand."""

from __future__ import annotations

from tests.evidence.by_hand import answer, evidence_of, svhn

from fedsemi.evidence.profiles import Profile


def test_a_labeled_share_is_compared_in_size_with_the_weights(medium: Profile) -> None:
    # The share costs 3 and 4 points, the weights bring 1 and 1: 2 and 3 more in size.
    scores = svhn(
        uniform=[0.50, 0.60],
        uniform_share_15=[0.47, 0.56],
        uniform_share_70=[0.51, 0.61],
        semianagg=[0.51, 0.61],
    )
    found = answer("q4", evidence_of(medium, scores))
    assert "Labeled share 0.15 − 0.5, SVHN: −3.50 points" in found.text[0]
    assert "largest of 2 changes, and 2.50 points larger in size" in found.text[0]
    assert found.finding == "SVHN: undecided so far; ISIC-18: not run; MNIST: not run"
    svhn_part, beside, isic18, _ = found.parts
    assert (beside.word, beside.told[:37]) == (
        "Also",
        "Labeled share 0.7 − SemiAnAgg, SVHN +",
    )
    assert svhn_part.told.startswith(
        "SVHN, a labeled share of 0.15 costs 3.50 points; its size less that of the "
        "weights +2.50 ("
    )
    assert (isic18.word, isic18.told) == ("Open", "ISIC-18 not run")
