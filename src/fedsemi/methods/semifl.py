"""SemiFL: unlabeled clients and a server with labels learn by turns.

Diao, Ding, Tarokh, SemiFL: Semi-Supervised Federated Learning for Unlabeled Clients
with Alternate Training, NeurIPS 2022. The model labels a client's images once a round;
the client learns the confident ones in strong view, and mixtures of them with as many
of all its images. Clients that got a label are averaged alike, the server steps towards
the mean with momentum and learns from its own labels for five epochs.
In paper and released code batch norm is static: `batch_norm = "static"`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import torch
from torch import Tensor

from fedsemi.client.local import answer
from fedsemi.client.networks import teacher_of
from fedsemi.data.client import Client
from fedsemi.messages import PSEUDO_LABEL, Memory, Task, Update
from fedsemi.method import Provenance
from fedsemi.methods.alternating import Alternating
from fedsemi.objectives.base import Objective, SemiSupervised
from fedsemi.objectives.mixed_up import FixAndMix, give_labels
from fedsemi.objectives.supervised import Supervised
from fedsemi.objectives.workbench import Workbench
from fedsemi.seeds import Streams, seed_of
from fedsemi.settings import NotNegative, Positive, Share


@dataclass(frozen=True)
class SemiFL(Alternating):
    """Labels once a round, strong views and mixtures; the server learns after them."""

    name = "semifl"
    cards = ("LS",)
    provenance = Provenance(
        "SemiFL, NeurIPS",
        2022,
        "labels once a round, strong views and mixup",
        "alike, with momentum; then the server's labels",
        'the paper\'s batch norm is `batch_norm = "static"`',
    )

    cutoff: Share = 0.95
    """Least confidence of a pseudo-label."""
    mix_weight: NotNegative = 1.0
    """Of the loss of mixtures; 0 leaves them out."""
    concentration: Positive = 0.75
    """Of the Beta draw of a mixture's parts."""
    batch_norm: Literal["averaged", "static"] = "averaged"
    """Statistics of batch norm: averaged with the models, or, as in the paper, measured
    anew over the images of all clients and the server in each round."""

    @property
    def static(self) -> bool:
        """Whether statistics are measured anew."""
        return self.batch_norm == "static"

    def learn(
        self, task: Task, client: Client, memory: Memory
    ) -> tuple[Update, Memory]:
        """Label the client once, then learn from its confident images."""
        bench = Workbench(client, self.setup, Streams(seed_of(task.seed, "label")))
        teacher = teacher_of(self.setup, task.weights)
        given = give_labels(bench, teacher, self.cutoff)

        def make(confident: Workbench) -> Objective:
            mixing = self.concentration, self.mix_weight
            unsupervised = FixAndMix(confident, bench, given, *mixing)
            return SemiSupervised(Supervised(confident), unsupervised)

        update, kept = answer(task, given.part_of(client), memory, self.setup, make)
        update = replace(update, num_unlabeled=client.num_unlabeled)
        return update, {**kept, PSEUDO_LABEL: given.pseudo_label}

    def contributions(self, updates: Sequence[Update]) -> Tensor:
        """Count clients alike that learned from a label; others were idle."""
        busy = [bool(update.num_pseudo or update.num_labeled) for update in updates]
        return torch.tensor(busy, dtype=torch.float64) / max(sum(busy), 1)
