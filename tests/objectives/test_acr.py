import pytest
import torch

from fedsemi.objectives.acr import adjustment, distances
from fedsemi.objectives.two_heads import smoothed


def test_distances_and_adjustment_match_the_worked_example():
    prior, share = torch.tensor([0.6, 0.3, 0.1]), torch.tensor([0.2, 0.3, 0.5])
    distance = distances(share, prior)
    assert distance.tolist() == pytest.approx([0.54161, 0.06960, 0.04377], abs=1e-5)
    assert adjustment(distance) == pytest.approx(0.896221, abs=1e-6)


def test_reversal_goes_by_rank_and_not_by_place():
    prior = torch.tensor([0.1, 0.6, 0.3])  # the same classes in another order
    share = torch.tensor([0.5, 0.2, 0.3])
    expected = [0.54161, 0.06960, 0.04377]
    assert distances(share, prior).tolist() == pytest.approx(expected, abs=1e-5)


def test_unlabeled_classes_like_the_prior_are_adjusted_least():
    prior = torch.tensor([0.7, 0.2, 0.1])
    like = adjustment(distances(prior, prior))
    unlike = adjustment(distances(prior.flip(0), prior))
    assert like < 2 / 3 < unlike


def test_without_any_distance_all_three_anchors_weigh_the_same():
    assert adjustment(torch.zeros(3)) == pytest.approx(2 / 3)


def test_a_class_never_seen_has_a_small_but_positive_prior():
    assert smoothed(torch.tensor([7, 0])).tolist() == pytest.approx([8 / 9, 1 / 9])
    assert smoothed(torch.zeros(4)).tolist() == [0.25] * 4
