from __future__ import annotations

import pytest
import torch

from fedsemi.objectives.selection import Fixed, Flexible, Free, Soft


def probs_of(confidence: list[float], num_classes: int = 3) -> torch.Tensor:
    """Class 0 is the winner with the given confidences."""
    rows = [[c, *[(1 - c) / (num_classes - 1)] * (num_classes - 1)] for c in confidence]
    return torch.tensor(rows)


def learned(counts: tuple[int, ...], unused: int) -> Flexible:
    total = sum(counts) + unused
    selection = Flexible(total, len(counts), cutoff=0.9)
    labels = [c for c, count in enumerate(counts) for _ in range(count)]
    selection.learned_label[: len(labels)] = torch.tensor(labels)
    return selection


def test_fixmatch_admits_from_the_cutoff_on() -> None:
    weight = Fixed(0.95)(probs_of([0.94, 0.95, 0.99]), torch.arange(3))
    assert weight.tolist() == [0.0, 1.0, 1.0]


@pytest.mark.parametrize(
    ("counts", "unused", "expected"),
    [
        ((10, 5, 0), 100, (0.047368, 0.023077, 0.0)),
        ((60, 30, 10), 20, (0.9, 0.3, 0.081818)),
        ((0, 0, 0), 7, (0.0, 0.0, 0.0)),
    ],
)
def test_flexmatch_thresholds_match_the_golden_values(
    counts: tuple[int, ...], unused: int, expected: tuple[float, ...]
) -> None:
    threshold = learned(counts, unused).threshold()
    assert threshold.tolist() == pytest.approx(expected, abs=1e-6)


def test_flexmatch_learns_confident_labels_only_and_never_forgets_them() -> None:
    selection = Flexible(4, 3, cutoff=0.9)
    selection(probs_of([0.95, 0.5]), torch.tensor([2, 3]))
    selection(probs_of([0.5]), torch.tensor([2]))
    assert selection.learned_label.tolist() == [-1, -1, 0, -1]


def test_flexmatch_memory_is_persistent_or_lasts_one_round() -> None:
    assert "learned_label" in Flexible(4, 3).state_dict()
    assert "learned_label" not in Flexible(4, 3, persistent=False).state_dict()


def test_flexmatch_works_for_a_client_without_unlabeled_data() -> None:
    assert Flexible(0, 3).threshold().tolist() == [0, 0, 0]


def test_softmatch_weights_match_the_golden_values() -> None:
    selection = Soft(10)
    selection.mean.fill_(0.7)
    selection.variance.fill_(0.04)
    weight = selection.weigh(torch.tensor([0.3, 0.6, 0.9]))
    assert weight.tolist() == pytest.approx([3.3546e-4, 0.606531, 1.0], rel=1e-4)


def test_softmatch_running_moments_match_the_golden_values() -> None:
    selection = Soft(10)
    selection.observe(torch.tensor([0.5, 0.7, 0.9, 0.99]))
    assert selection.mean.item() == pytest.approx(0.1006725, abs=1e-7)
    assert selection.variance.item() == pytest.approx(0.99904769, abs=1e-7)


def test_softmatch_takes_a_batch_of_one() -> None:
    selection = Soft(3)
    weight = selection(probs_of([0.9]), torch.tensor([0]))
    assert torch.isfinite(weight).all()
    assert selection.variance.item() == 1.0


def test_softmatch_aligns_to_the_uniform_distribution() -> None:
    # All samples lean to class 0, so after alignment none is more than one in three.
    selection = Soft(3)
    aligned = selection._aligned(probs_of([0.8, 0.8]))
    assert aligned.amax().item() == pytest.approx(1 / 3, abs=1e-4)


def test_freematch_threshold_matches_the_golden_values() -> None:
    selection = Free(3)
    selection.overall.fill_(0.8)
    selection.mean_probs.copy_(torch.tensor([0.5, 0.3, 0.2]))
    assert selection.threshold().tolist() == pytest.approx([0.8, 0.48, 0.32])


def test_freematch_statistics_move_by_one_minus_the_momentum() -> None:
    selection = Free(2, ema=0.9)
    selection(torch.tensor([[0.9, 0.1], [0.7, 0.3]]), torch.arange(2))
    assert selection.overall.item() == pytest.approx(0.9 * 0.5 + 0.1 * 0.8)
    assert selection.mean_probs.tolist() == pytest.approx([0.53, 0.47])
    assert selection.histogram.tolist() == pytest.approx([0.55, 0.45])


def test_freematch_follows_the_confidence_up_to_its_cap() -> None:
    selection = Free(2, ema=0.5, cap=0.6)
    selection(torch.tensor([[0.9, 0.1], [0.7, 0.3]]), torch.arange(2))
    # Without the cap, 0.5 · 0.5 + 0.5 · 0.8 = 0.65.
    assert selection.overall.item() == pytest.approx(0.6)
    uncapped = Free(2, ema=0.5)
    uncapped(torch.tensor([[0.9, 0.1], [0.7, 0.3]]), torch.arange(2))
    assert uncapped.overall.item() == pytest.approx(0.65)


def test_freematch_has_the_weight_of_fairness_of_its_configs() -> None:
    # The worked example below at USB's weight of a thousandth.
    strong = torch.tensor([[0.8, 0.2], [0.3, 0.7]])
    expected = 0.001 * 0.5 * (torch.tensor([0.55, 0.45]).log().sum())
    found = Free(2).regularizer(strong, torch.ones(2))
    assert found.item() == pytest.approx(expected.item(), rel=1e-4)


def test_freematch_fairness_by_hand() -> None:
    # Even statistics: target (1/2, 1/2). Two samples, one of each class, mean
    # (0.55, 0.45), histogram (1/2, 1/2): shown (0.55, 0.45).
    selection = Free(2, fairness=0.01)
    strong = torch.tensor([[0.8, 0.2], [0.3, 0.7]])
    expected = 0.01 * 0.5 * (torch.tensor([0.55, 0.45]).log().sum())
    found = selection.regularizer(strong, torch.ones(2))
    assert found.item() == pytest.approx(expected.item(), rel=1e-4)


def test_freematch_fairness_is_nothing_if_nothing_was_selected() -> None:
    assert Free(2).regularizer(torch.ones(3, 2) / 2, torch.zeros(3)).item() == 0.0
