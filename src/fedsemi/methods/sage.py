"""SAGE: the global model corrects a client's labels where their confidences differ.

Liu, Shang, Zhang, Lu, Gong, Xue, Wang, Mind the Gap: Confidence Discrepancy Can Guide
Federated Semi-Supervised Learning Across Pseudo-Mismatch, CVPR 2025. With p_l and p_g
the probabilities of a weak view under the local and the global model, a confident local
label counts λ = exp(−κ |max p_l − max p_g|), κ = ln 2 / .05, and the global one the
rest; an unsure local label counts nothing. The strong view learns the mixed target.
Clients are averaged by their images, and nothing is sent beside the model.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from torch import Tensor

from fedsemi.contributions import by_num_images
from fedsemi.messages import Task, Update
from fedsemi.method import Provenance
from fedsemi.methods.own_learner import OwnLearner
from fedsemi.objectives.base import Objective, SemiSupervised
from fedsemi.objectives.discrepancy import CorrectedPseudoLabel, FewerLabels
from fedsemi.objectives.supervised import Supervised
from fedsemi.objectives.workbench import Workbench
from fedsemi.settings import Count, NotNegative, Positive, Share
from fedsemi.state import ServerState


@dataclass(frozen=True)
class SAGE(OwnLearner[ServerState]):
    """Local pseudo-labels, softly corrected by the global model's."""

    name = "sage"
    cards = ("LAC",)
    provenance = Provenance(
        "SAGE, CVPR", 2025, "labels of both models, corrected", "by number of images"
    )

    cutoff: Share = 0.95
    """A sample counts if the local or the global model is as confident."""
    half_at: Positive = 0.05
    """Gap of the confidences at which local and global label weigh alike; κ is
    ln 2 / half_at."""
    unlabeled_ratio: Count = 2
    """Unlabeled images for each labeled one in a step."""
    unsupervised_weight: NotNegative = 1.0
    """Of the loss on unlabeled images."""

    def objective(self, task: Task, bench: Workbench) -> Objective:
        """Learn from a part of a batch's labels, and from corrected pseudo-labels."""
        supervised = FewerLabels(Supervised(bench, "weak"), self.unlabeled_ratio)
        unsupervised = CorrectedPseudoLabel(bench, self.cutoff, self.half_at)
        weight = self.unsupervised_weight
        return SemiSupervised(supervised, unsupervised, unsupervised_weight=weight)

    def contributions(self, updates: Sequence[Update]) -> Tensor:
        """Return the part of all images that each client has."""
        return by_num_images(updates)
