"""(FL)²: thresholds of each client's own, flat minima, and more weight for beginners.

Lee, Le, Shin, Lee, (FL)²: Overcoming Few Labels in Federated Semi-Supervised Learning,
NeurIPS 2024. A client's threshold of a class follows how sure the model is of it there.
Sure predictions shall stay as they are when the weights are moved where their loss is
sharpest. A client counts 1 − its mean confidence, which it sends; under LS the server
then learns from its own labels. That labels come from the model received, once a round,
is our reading; docs/concordance.md has the rest.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from fedsemi.client.local import answer
from fedsemi.contributions import statistic
from fedsemi.data.client import Client
from fedsemi.messages import CONFIDENCE, Memory, Task, Update
from fedsemi.method import Provenance, Statistic
from fedsemi.methods.alternating import Alternating
from fedsemi.objectives.base import Objective, SemiSupervised
from fedsemi.objectives.sharpness import SharpnessAware
from fedsemi.objectives.supervised import Supervised
from fedsemi.objectives.workbench import Workbench
from fedsemi.settings import NotNegative, Share


@dataclass(frozen=True)
class FL2(Alternating):
    """Adaptive thresholds, steady predictions, shares by lack of confidence."""

    name = "fl2"
    cards = ("LS", "LAC")
    provenance = Provenance(
        "(FL)², NeurIPS",
        2024,
        "adaptive thresholds, sharpness-aware",
        "by lack of confidence; then the server's labels",
        "our reading where the paper leaves it open",
    )

    cutoff: Share = 0.95
    """Confidence from which a prediction shall be steady."""
    radius: NotNegative = 0.1
    """ρ, how far weights are moved, in their own scale."""
    steady_weight: NotNegative = 1.0
    """Of the divergence between plain and moved predictions; 0 leaves it out."""

    @property
    def statistics(self) -> Mapping[str, Statistic]:
        """What the server reads beside the models."""
        return {CONFIDENCE: Statistic(1, 0, 1)}

    def learn(
        self, task: Task, client: Client, memory: Memory
    ) -> tuple[Update, Memory]:
        """Learn from labels, if there are any, and from what the model is sure of."""
        return answer(task, client, memory, self.setup, self._objective)

    def contributions(self, updates: Sequence[Update]) -> Tensor:
        """Return shares by 1 − mean confidence; alike where all are wholly sure.

        A client without unlabeled images has no confidence to tell and counts as one of
        mean confidence of the others: it is neither ahead of them nor behind.
        """
        told = [_lacking(u) for u in updates if CONFIDENCE in u.statistics]
        mean = sum(told) / max(len(told), 1)
        lacking = [
            _lacking(update) if CONFIDENCE in update.statistics else mean
            for update in updates
        ]
        shares = torch.tensor(lacking, dtype=torch.float64)
        if not shares.any():
            shares = torch.ones(len(updates), dtype=torch.float64)
        return shares / shares.sum().clamp_min(1e-300)

    def _objective(self, bench: Workbench) -> Objective:
        steady = self.cutoff, self.radius, self.steady_weight
        return SemiSupervised(Supervised(bench), SharpnessAware(bench, *steady))


def _lacking(update: Update) -> float:
    return 1 - float(statistic(update, CONFIDENCE))
