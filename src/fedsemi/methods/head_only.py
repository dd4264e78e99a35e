"""Train the head on labels and leave the encoder alone.

What follows a self-supervised warm-up: the encoder is good, the head is random.
"""

from __future__ import annotations

from dataclasses import dataclass

from fedsemi.client.local import answer
from fedsemi.data.client import Client
from fedsemi.messages import Memory, Task, Update
from fedsemi.method import Provenance
from fedsemi.methods.supervised import SupervisedFedAvg
from fedsemi.objectives.supervised import HeadOnly


@dataclass(frozen=True)
class HeadOnlyFedAvg(SupervisedFedAvg):
    """Labeled clients train the head; the encoder stays bit for bit as it was."""

    name = "head-only"
    provenance = Provenance(
        "SemiAnAgg, TMLR",
        2024,
        "labels, encoder frozen",
        "by number of labels",
        "a warm-up",
    )

    def train(
        self, task: Task, client: Client, memory: Memory
    ) -> tuple[Update, Memory]:
        """Learn from the labeled part alone."""
        labeled = client.only_labeled()
        return answer(
            task, labeled, memory, self.setup, lambda b: HeadOnly(b, self.views)
        )
