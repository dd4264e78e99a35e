"""Shares that a site computes by itself, from its own claims and their sums over sites.

A method whose mean can be written so needs no server that sees single sites: sites sum
up their claims, each takes its share of the sum, and the mean is a sum of steps.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from fedsemi.errors import ProtocolError
from fedsemi.messages import Update

MOST_DIVERSITY = 2.0
"""One minus a cosine is never more."""


def _nothing(update: Update) -> Tensor:
    return torch.zeros(0)


@dataclass(frozen=True)
class Sums:
    """A mean of two parts: labeled by one number a site, unlabeled class by class.

    A class counts as much as any other, and a site in it by its part of the class's
    sum; one number for all classes is one class. FedAvg has no second part.
    """

    labeled: Callable[[Update], float]
    """The claim to the labeled part, e.g. N^L."""
    unlabeled: Callable[[Update], Tensor] = _nothing
    """The claims to the unlabeled part, [m], not negative."""
    labeled_share: Callable[[int], float] = lambda _: 1.0
    """Share of the labeled part, in a round."""
    num_unlabeled: int = 0
    """m."""
    most: float = math.inf
    """Largest single claim to the unlabeled part."""

    @property
    def num_claims(self) -> int:
        """How many numbers a site claims."""
        return 1 + self.num_unlabeled

    def claims(self, update: Update) -> Tensor:
        """Return what a site claims, [1 + m]."""
        first = torch.tensor([self.labeled(update)], dtype=torch.float64)
        return torch.cat([first, self.unlabeled(update).double()])

    def share(self, claims: Tensor, totals: Tensor, round: int, num: int) -> float:
        """Return a site's share of the mean, given the sums over so many sites.

        >>> sums = Sums(lambda u: 0.0, labeled_share=lambda _: 0.5)
        >>> own, totals = torch.tensor([0.0, 1.0, 0.0]), torch.tensor([20.0, 4.0, 3.0])
        >>> sums.share(own, totals, 0, 5)  # half of (1/4 + 0/3) / 2 classes
        0.0625
        """
        possible = totals.shape == claims.shape and bool(
            ((totals >= claims) & totals.isfinite()).all()
            and (totals[1:] <= num * self.most).all()
        )
        if not possible:
            raise ProtocolError(
                "the sums that came cannot be: less than this site's own part, or more "
                "than all sites' together",
                code="FS6009",
            )
        parts = claims / torch.where(totals > 0, totals, torch.ones_like(totals))
        shown = totals > 0
        # A part that nobody holds leaves its share to the other, as in `_join`.
        if not shown[1:].any():
            return float(parts[0])
        unlabeled = float(parts[1:][shown[1:]].mean())
        if not shown[0]:
            return unlabeled
        share = self.labeled_share(round)
        return share * float(parts[0]) + (1 - share) * unlabeled
