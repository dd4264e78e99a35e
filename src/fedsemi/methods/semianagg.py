"""SemiAnAgg (TMLR 2024): unlabeled clients count by distance from a random anchor.

Eq. 3 is `objectives.diversity.AnchorDiversity`, on the client; Eq. 4, on the server,
is `contributions.by_diversity`. A client sends C numbers beside its model.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from fedsemi.client.learners import ProbeMaker
from fedsemi.contributions import Rule, by_diversity, statistic
from fedsemi.errors import ConfigError
from fedsemi.messages import DIVERSITY, Task, Update
from fedsemi.method import Provenance, Statistic
from fedsemi.methods.averaging import ANY_LEARNER, SemiAveraging
from fedsemi.objectives.diversity import (
    ANCHOR_SEED,
    ANCHOR_SHA256,
    Anchors,
    announced_probe,
    diversity_statistic,
)
from fedsemi.settings import Count, NotNegative
from fedsemi.sums import MOST_DIVERSITY, Sums


@dataclass(frozen=True)
class SemiAnAgg(SemiAveraging):
    """FedAvg-Semi with the unlabeled half weighed by diversity."""

    name = "semianagg"
    cards = ("LC", "LPC")
    provenance = Provenance(
        "SemiAnAgg, TMLR", 2024, ANY_LEARNER, "unlabeled by diversity", "Eq. 3 and 4"
    )
    announces = frozenset({ANCHOR_SEED, ANCHOR_SHA256})
    own_metrics = frozenset({"anchor_bytes", "diversity_spread"})

    rule: Rule = "paper"
    """Eq. 4 as published, in the order of the released code, or of presence alone."""
    sharpness: NotNegative = 1.0
    """Power of the unlabeled shares: 1 as the rule says, 0 equal, above 1 sharper."""
    anchor_seed: int = 0
    """From which every client makes the same random network."""
    anchors: Count = 1
    """Random networks over which a client averages its diversity; still C numbers."""

    def contributions(self, updates: Sequence[Update]) -> Tensor:
        """Return Eq. 4."""
        share = self.labeled_share_in(updates)
        return by_diversity(updates, share, self.rule, self.sharpness)

    def as_sums(self) -> Sums:
        """Sum labels, and r_c class by class: Eq. 4 needs of r_kc nothing else."""
        if self.rule == "released" or self.sharpness != 1:
            raise ConfigError(
                "semianagg cannot be masked with rule = 'released' or a sharpness: its "
                "shares then need more than sums over sites; use rule = 'paper' or "
                "'presence'",
                code="FS6002",
            )
        classes = self.setup.model.num_classes
        return self.two_sums(self._claims, classes, MOST_DIVERSITY)

    def _claims(self, update: Update) -> Tensor:
        if not update.num_unlabeled:
            return torch.zeros(self.setup.model.num_classes)
        r = statistic(update, DIVERSITY).clamp(0, MOST_DIVERSITY)
        return (r > 0).double() if self.rule == "presence" else r

    @property
    def statistics(self) -> Mapping[str, Statistic]:
        """What Eq. 4 reads of every reply."""
        return diversity_statistic(self.setup.model)

    def broadcast(self) -> Mapping[str, Tensor]:
        """Announce the anchors."""
        return Anchors(self.setup.model, self.anchor_seed, self.anchors).announcement()

    def probe(self, task: Task) -> ProbeMaker:
        """Return Eq. 3, of what the teacher sees anyway."""
        return announced_probe(self.setup.model, task.broadcast)
