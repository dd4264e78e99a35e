"""An estimate of pseudo-label accuracy that needs no label of the site."""

from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from fedsemi.objectives.calibration import (
    EDGES,
    PREFIX,
    Calibration,
    as_metrics,
    bins_of,
    calibrate,
    calibration_gaps,
    estimate,
    from_metrics,
)

BINS = len(EDGES)
COUNTS = st.lists(st.integers(0, 500), min_size=BINS, max_size=BINS)


def test_confidences_are_counted_from_the_edge_on() -> None:
    counts = bins_of(torch.tensor([0.9, 0.929, 0.93, 1.0]))
    assert counts[EDGES.index(0.9)] == 2
    assert counts[EDGES.index(0.93)] == 1
    assert counts[-1] == 1


@given(COUNTS)
def test_counts_survive_being_sent_as_metrics(counts: list[int]) -> None:
    assert from_metrics(as_metrics(torch.tensor(counts))) == counts


@pytest.mark.parametrize("count", [-1.0, 0.5, 1e300, math.inf, math.nan])
def test_counts_that_cannot_be_true_are_no_counts(count: float) -> None:
    """One and minus one would sum to nothing, which the estimate divides by."""
    sent = {f"{PREFIX}0": 1.0, f"{PREFIX}0.3": count}
    assert from_metrics(sent) == [0.0] * len(EDGES)


def test_the_estimate_is_the_mean_of_bin_accuracies_worked_by_hand() -> None:
    right, count, used = [0] * BINS, [0] * BINS, [0.0] * BINS
    low, high = EDGES.index(0.9), EDGES.index(0.99)
    right[low], count[low], used[low] = 2, 4, 30.0
    right[high], count[high], used[high] = 9, 9, 10.0
    # Pool (11 + 1) / (13 + 2) = 0.8; bins (2 + 0.8) / 5 = 0.56, (9 + 0.8) / 10 = 0.98.
    found = estimate(Calibration(tuple(right), tuple(count)), used)
    assert found is not None
    assert found.accuracy == pytest.approx(0.75 * 0.56 + 0.25 * 0.98)
    # Beta posteriors: 3 of 6 has variance 0.25 / 7, 10 of 11 has 10 / 121 / 12.
    sd = (0.75**2 * 0.25 / 7 + 0.25**2 * 10 / 121 / 12) ** 0.5
    assert found.low == pytest.approx(found.accuracy - 1.96 * sd)


def test_without_held_out_images_there_is_no_estimate() -> None:
    nothing = (0,) * BINS
    assert estimate(Calibration(nothing, nothing), [1.0] * BINS) is None
    assert estimate(Calibration(nothing, (5,) * BINS), [0.0] * BINS) is None


@given(COUNTS, COUNTS)
def test_the_estimate_lies_in_its_interval(held: list[int], used: list[int]) -> None:
    found = estimate(Calibration(tuple(n // 2 for n in held), tuple(held)), used)
    if found is not None:
        assert 0 <= found.low <= found.accuracy <= found.high <= 1


def test_more_held_out_images_narrow_the_interval() -> None:
    used = [0.0] * (BINS - 1) + [1.0]
    few, many = (
        estimate(
            Calibration((0,) * (BINS - 1) + (n,), (0,) * (BINS - 1) + (2 * n,)), used
        )
        for n in (5, 500)
    )
    assert few is not None
    assert many is not None
    assert many.high - many.low < (few.high - few.low) / 5


def test_interval_covers_the_truth_about_as_often_as_it_says() -> None:
    generator = torch.Generator().manual_seed(0)
    covered = 0
    for _ in range(200):
        confidence = 0.6 + 0.39 * torch.rand(300, generator=generator)
        right = torch.rand(300, generator=generator) < confidence
        probs = torch.stack([confidence, 1 - confidence], 1)
        calibration = calibrate(probs[:100], (~right[:100]).long())
        found = estimate(calibration, bins_of(confidence[100:]).tolist())
        truth = float(confidence[100:].mean())
        covered += found is not None and found.low <= truth <= found.high
    assert 184 <= covered <= 200, covered


def test_the_sure_and_wrong_miss_by_one_each_and_the_right_by_nothing() -> None:
    probs = torch.tensor([[1.0, 0.0], [1.0, 0.0]])
    wrong = calibration_gaps(probs, torch.tensor([1, 1]))
    assert wrong.tolist() == [0.0] * (len(EDGES) - 1) + [-2.0]
    assert not calibration_gaps(probs, torch.tensor([0, 0])).any()
