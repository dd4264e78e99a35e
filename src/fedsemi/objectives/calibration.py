"""How good are pseudo-labels that nobody can check? An estimate with its error bar.

An unlabeled site counts how confident its teacher was, bin by bin, and sends the
counts. A labeled site looks at images it held out: in each bin, which part was right?
The estimate is the mean of the latter, weighed by the former. Its error bar is that of
the held-out sample. It does not cover a difference between the sites: where an
unlabeled site's images are harder than the held-out ones, the estimate is too high.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

EDGES = (0.0, 0.3, 0.5, 0.6, 0.7, 0.8, 0.9, 0.93, 0.95, 0.97, 0.98, 0.99, 0.995, 0.999)
"""Where the bins of confidence begin; the last one ends at one."""

PREFIX = "confidence_from_"
"""Metrics of an unlabeled client: this and the bin's beginning, the count as value."""

MOST_IMAGES = 2**40
"""More than anybody has; sums over sites stay exact."""

_PRIOR = 1.0


@dataclass(frozen=True)
class Calibration:
    """Held-out images by the confidence of their prediction."""

    right: tuple[int, ...]
    """How many predictions in each bin were right."""
    count: tuple[int, ...]
    """How many predictions there were in each bin."""


@dataclass(frozen=True)
class Estimate:
    """A pseudo-label accuracy, estimated without labels, and its 95 % interval."""

    accuracy: float
    low: float
    high: float


def bins_of(confidence: Tensor) -> Tensor:
    """Count confidences bin by bin, [B]."""
    edges = torch.tensor(EDGES[1:], device=confidence.device)
    place = torch.bucketize(confidence.float(), edges, right=True)
    return place.bincount(minlength=len(EDGES))


def as_metrics(counts: Tensor) -> dict[str, float]:
    """Name the counts of the bins that are not empty, to be sent as metrics."""
    pairs = zip(EDGES, counts.tolist(), strict=True)
    return {f"{PREFIX}{edge:g}": float(count) for edge, count in pairs if count}


def from_metrics(metrics: Mapping[str, float]) -> list[float]:
    """Read the counts of all bins back; none if they cannot be true.

    They are a site's word. Counts below zero could sum to nothing, which the estimate
    would divide by.
    """
    counts = [metrics.get(f"{PREFIX}{edge:g}", 0.0) for edge in EDGES]
    return counts if all(map(is_count, counts)) else [0.0] * len(EDGES)


def is_count(number: float) -> bool:
    """Say whether a number from outside can be a number of images."""
    return 0 <= number <= MOST_IMAGES and number == int(number)


def calibrate(probs: Tensor, labels: Tensor) -> Calibration:
    """Compare predictions [N, C] on held-out images with their labels [N]."""
    confidence, predicted = probs.max(1)
    right = bins_of(confidence[predicted == labels])
    count = bins_of(confidence)
    return Calibration(tuple(right.tolist()), tuple(count.tolist()))


def estimate(calibration: Calibration, counts: Sequence[float]) -> Estimate | None:
    """Estimate the accuracy of pseudo-labels with these confidences.

    Each bin's accuracy is drawn towards that of all held-out images in bins that the
    client uses, with the strength of one image, so a bin without held-out images has
    an opinion too. None if either side has nothing to say.
    """
    used = [i for i, count in enumerate(counts) if count]
    held = sum(calibration.count[i] for i in used)
    if not held:
        return None
    right = sum(calibration.right[i] for i in used)
    pool = (right + 1) / (held + 2)
    total = sum(counts)
    mean = spread = 0.0
    for i in used:
        size = calibration.count[i] + _PRIOR
        accuracy = (calibration.right[i] + _PRIOR * pool) / size
        share = counts[i] / total
        mean += share * accuracy
        spread += share**2 * variance(calibration.right[i], calibration.count[i])
    reach = 1.96 * spread**0.5
    return Estimate(mean, max(0.0, mean - reach), min(1.0, mean + reach))


def variance(right: float, count: int) -> float:
    """Return how uncertain an accuracy is: the variance of its Beta posterior.

    With a uniform prior, so ten right out of ten are not taken for certainty.
    """
    mean = (right + 1) / (count + 2)
    return mean * (1 - mean) / (count + 3)


def calibration_gaps(probs: Tensor, labels: Tensor) -> Tensor:
    """Return hits less confidence, summed bin by bin, [B].

    The sum of their absolute values over the number of images is the expected
    calibration error.
    """
    confidence, predicted = probs.max(1)
    edges = torch.tensor(EDGES[1:])
    place = torch.bucketize(confidence, edges, right=True)
    gap = (predicted == labels).double() - confidence.double()
    return torch.zeros(len(EDGES), dtype=torch.double).index_add_(0, place, gap)
