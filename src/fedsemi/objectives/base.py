"""An objective is a loss with a memory.

Its persistent buffers are what the client remembers from round to round; buffers with
`persistent=False` last for one round. `state_dict()` is the memory, as it is.
"""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor, nn

from fedsemi.data.client import Batch
from fedsemi.models import Classifier

View = Literal["weak", "strong"]
"""Whether a method of the time before RandAugment gets a strong view as well."""
LabelView = Literal[View, "clean"]
"""What labels are learned from: a clean view is the image as at test time."""


class Objective(nn.Module):
    """How a batch becomes a number, what a client remembers and what it reports."""

    num_pseudo: int = 0
    """N^U-hat: distinct unlabeled samples with a confident pseudo-label this round."""

    def prepare(self) -> None:
        """Do what is needed once in a client's life."""

    def start_epoch(self, teacher: Classifier) -> None:
        """Look at the client's data with this round's frozen global model.

        Other clients are shown the same one: it is to be looked with, never changed.
        """

    def forward(self, student: Classifier, batch: Batch) -> Tensor:
        """Return the loss of one batch."""
        raise NotImplementedError

    def after_step(self, student: Classifier) -> None:
        """Follow the student, as a mean teacher does."""

    def statistics(self) -> dict[str, Tensor]:
        """Say what the server is told."""
        return {}

    def metrics(self) -> dict[str, float]:
        """Say what is worth logging."""
        return {}


class SemiSupervised(Objective):
    """L = λ1 L_sup + λ2 L_unsup; a part without data adds nothing (Eq. 1)."""

    def __init__(
        self,
        supervised: Objective,
        unsupervised: Objective,
        supervised_weight: float = 1.0,
        unsupervised_weight: float = 1.0,
    ) -> None:
        super().__init__()
        self.supervised = supervised
        self.unsupervised = unsupervised
        self.supervised_weight = supervised_weight
        self.unsupervised_weight = unsupervised_weight

    def prepare(self) -> None:
        """Prepare both parts."""
        self.supervised.prepare()
        self.unsupervised.prepare()

    def start_epoch(self, teacher: Classifier) -> None:
        """Let both parts look at the data."""
        self.supervised.start_epoch(teacher)
        self.unsupervised.start_epoch(teacher)
        self.num_pseudo = self.unsupervised.num_pseudo

    def forward(self, student: Classifier, batch: Batch) -> Tensor:
        """Add up the losses of the parts that have data."""
        losses: list[Tensor] = []
        if len(batch.labeled):
            losses.append(self.supervised_weight * self.supervised(student, batch))
        if len(batch.unlabeled):
            losses.append(self.unsupervised_weight * self.unsupervised(student, batch))
        return torch.stack(losses).sum()

    def after_step(self, student: Classifier) -> None:
        """Let both parts follow the student."""
        self.supervised.after_step(student)
        self.unsupervised.after_step(student)
        self.num_pseudo = self.unsupervised.num_pseudo

    def statistics(self) -> dict[str, Tensor]:
        """Join what both parts report."""
        return self.supervised.statistics() | self.unsupervised.statistics()

    def metrics(self) -> dict[str, float]:
        """Join what both parts log."""
        return self.supervised.metrics() | self.unsupervised.metrics()
