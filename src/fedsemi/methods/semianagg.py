"""SemiAnAgg (TMLR 2024): unlabeled clients count by distance from a random anchor.

Eq. 3 is `objectives.diversity.AnchorDiversity`, on the client; Eq. 4, on the server,
is `contributions.by_diversity`. A client sends C numbers beside its model.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from torch import Tensor

from fedsemi.client.learners import ProbeMaker
from fedsemi.contributions import Rule, by_diversity
from fedsemi.messages import Task, Update
from fedsemi.method import Provenance, Statistic
from fedsemi.methods.averaging import ANY_LEARNER, SemiAveraging
from fedsemi.objectives.diversity import Anchors, announced_probe, diversity_statistic
from fedsemi.settings import Count, NotNegative


@dataclass(frozen=True)
class SemiAnAgg(SemiAveraging):
    """FedAvg-Semi with the unlabeled half weighed by diversity."""

    name = "semianagg"
    cards = ("LC", "LPC")
    provenance = Provenance(
        "SemiAnAgg, TMLR", 2024, ANY_LEARNER, "unlabeled by diversity", "Eq. 3 and 4"
    )
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
