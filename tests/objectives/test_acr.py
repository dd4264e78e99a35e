import pytest
import torch

from fedsemi.data.client import Batch
from fedsemi.objectives.acr import TwoHeadPseudoLabel, adjustment, distances
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


class _Told(TwoHeadPseudoLabel):
    """Knows which labels are confident, and learns nothing."""

    def __init__(self, bench, confident, **settings):
        prior = torch.tensor([0.6, 0.3, 0.1, 1e-9])
        super().__init__(bench, cutoff=0.9, ema=0.5, prior=prior, **settings)
        self._told = torch.tensor(confident)

    def _label(self, teacher):
        self._confident = self._told

    def forward(self, student, batch):
        self._observe(batch.unlabeled)


def _epoch(objective):
    """Two batches of two samples."""
    objective.start_epoch(None)
    for pair in torch.arange(4).split(2):
        objective(None, Batch(torch.arange(0), pair))
    return objective.tau, objective.class_share.tolist()


def test_classes_are_watched_only_after_the_last_fixed_epoch(make_bench):
    objective = _Told(make_bench(unlabeled=4), [0, 0, 0, 1], adapt_after=1)
    even = [0.25] * 4
    assert _epoch(objective) == (2.0, even)
    assert _epoch(objective) == (2.0, even)
    tau, share = _epoch(objective)
    assert tau == pytest.approx(2 / 3)  # no distance was collected yet
    # Class 0 alone, then classes 0 and 1: (.25 + 1) / 2 = .625, (.625 + .5) / 2 = .5625
    # and .125 / 2 + .5 / 2 = .3125 for class 1; the others halve twice.
    assert share == pytest.approx([0.5625, 0.3125, 0.0625, 0.0625])
    prior = objective.prior()
    first = distances(torch.tensor([0.625, 0.125, 0.125, 0.125]), prior)
    second = distances(torch.tensor(share), prior)
    assert _epoch(objective)[0] == pytest.approx(adjustment((first + second) / 2))


def test_a_batch_without_a_confident_label_adds_no_distance(make_bench):
    objective = _Told(make_bench(unlabeled=4), [0, 0, -1, -1], adapt_after=0)
    _epoch(objective)
    _, share = _epoch(objective)
    assert share == pytest.approx([0.625, 0.125, 0.125, 0.125])
    only = distances(torch.tensor(share), objective.prior())
    # Half of the epoch's batches told something; the other half counts as zero.
    assert objective.distance.tolist() == pytest.approx((only / 2).tolist())
