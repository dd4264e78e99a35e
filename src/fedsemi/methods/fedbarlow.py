"""FedBarlow: Barlow Twins on every client as a warm-up that needs no label.

The appendix of SemiAnAgg (TMLR 2024). The projector is trained and averaged with the
model, and dropped at the end of the stage.
"""

from __future__ import annotations

from dataclasses import dataclass

from torch import nn

from fedsemi.data.client import Client
from fedsemi.messages import Memory, Task, Update
from fedsemi.method import Provenance
from fedsemi.methods.self_supervised import SelfSupervised
from fedsemi.models import Classifier
from fedsemi.objectives.barlow_twins import BarlowTwins, barlow_projector
from fedsemi.objectives.workbench import Workbench
from fedsemi.settings import Count, NotNegative, Positive


@dataclass(frozen=True)
class FedBarlow(SelfSupervised):
    """Two views of an image agree, and no two outputs of a projector say the same."""

    name = "fedbarlow"
    cards = ("LC", "LPC", "LAC", "LS")
    provenance = Provenance(
        "FedBarlow in SemiAnAgg",
        2024,
        "two views, no labels",
        "by number of images",
        "a warm-up; the projector is sent and averaged",
    )

    projector_width: Count = 2048
    """Of all three layers of the projector."""
    scale: Positive = 0.01
    """Of the loss; to SGD the same as a smaller learning rate, weight decay aside."""
    off_diagonal: NotNegative = 0.0051
    """Weight of the correlations between different outputs."""

    def parts(self, model: Classifier) -> dict[str, nn.Module]:
        """Make the projector."""
        return dict(barlow_projector(self.projector_width, model))

    def train(
        self, task: Task, client: Client, memory: Memory
    ) -> tuple[Update, Memory]:
        """Learn without labels on one client."""

        def make(bench: Workbench) -> BarlowTwins:
            online = self.online(client)
            return BarlowTwins(bench, online, self.scale, self.off_diagonal)

        return self.learn(task, client, memory, make)
