"""FedAvg and FedAvg-Semi with a semi-supervised learner on every client.

FedAvg-Semi is Eq. 2 of SemiAnAgg (TMLR 2024); `UniformSemi` is the control that the
paper lacks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from fedsemi.cards import CardName
from fedsemi.contributions import by_data_size, by_supervision, uniform
from fedsemi.messages import Update
from fedsemi.method import Provenance
from fedsemi.methods.averaging import ANY_LEARNER, Averaging, SemiAveraging
from fedsemi.sums import Sums


@dataclass(frozen=True)
class FedAvg(Averaging):
    """Weights by the number of labels and confident pseudo-labels together."""

    name = "fedavg"
    cards = ("LC", "LPC", "LAC")
    provenance = Provenance(
        "FedAvg, AISTATS", 2017, ANY_LEARNER, "by labels and pseudo-labels together"
    )

    def contributions(self, updates: Sequence[Update]) -> Tensor:
        """Return n_k / n."""
        return by_data_size(updates)

    def as_sums(self) -> Sums:
        """Sum n_k."""
        return Sums(lambda update: update.num_labeled + update.num_pseudo)


@dataclass(frozen=True)
class FedAvgSemi(SemiAveraging):
    """Labels and pseudo-labels are weighed apart and joined half and half (Eq. 2)."""

    name = "fedavg-semi"
    cards: ClassVar[tuple[CardName, ...]] = ("LC", "LPC")
    provenance = Provenance(
        "SemiAnAgg, TMLR", 2024, ANY_LEARNER, "labels half, pseudo-labels half", "Eq. 2"
    )

    def contributions(self, updates: Sequence[Update]) -> Tensor:
        """Return Eq. 2."""
        return by_supervision(updates, self.labeled_share_in(updates))

    def as_sums(self) -> Sums:
        """Sum labels, and pseudo-labels."""
        return self.two_sums(lambda update: torch.tensor([float(update.num_pseudo)]))


@dataclass(frozen=True)
class UniformSemi(SemiAveraging):
    """Every unlabeled client counts the same: the control for SemiAnAgg's weights."""

    name = "uniform-semi"
    cards = ("LC", "LPC")
    provenance = Provenance(
        "fedsemi", 2026, ANY_LEARNER, "labels half, unlabeled sites alike", "a control"
    )

    def contributions(self, updates: Sequence[Update]) -> Tensor:
        """Return equal shares of the unlabeled half."""
        return uniform(updates, self.labeled_share_in(updates))

    def as_sums(self) -> Sums:
        """Sum labels, and count the sites with unlabeled data."""
        return self.two_sums(
            lambda update: torch.tensor([float(update.num_unlabeled > 0)]), most=1.0
        )
