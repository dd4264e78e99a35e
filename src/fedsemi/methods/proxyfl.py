"""ProxyFL: rows of the head stand for the classes, at the server and at clients.

Chen, Wang, ProxyFL: A Proxy-Guided Framework for Federated Semi-Supervised Learning,
CVPR 2026. The server averages models and then tunes the averaged head so that it
classifies the clients' head rows, in which an outlier counts less than in a mean. A
client learns confident pseudo-labels; images below the threshold are not left out but
drawn to the head rows, as far as each class is probable. Nothing else is sent.

Written from a description: constants of the tuning and the attraction are our reading.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from fedsemi.contributions import by_num_images
from fedsemi.messages import Task, Update
from fedsemi.method import Provenance
from fedsemi.methods.own_learner import OwnLearner
from fedsemi.objectives.base import Objective, SemiSupervised
from fedsemi.objectives.proxies import UndecidedProxies, tuned_rows
from fedsemi.objectives.supervised import Supervised
from fedsemi.objectives.workbench import Workbench
from fedsemi.settings import NotNegative, Positive, Share, Whole
from fedsemi.state import ServerState

_HEAD = "head.weight"


@dataclass(frozen=True)
class ProxyFL(OwnLearner[ServerState]):
    """A head that is tuned on the clients' heads, and no image left out."""

    name = "proxyfl"
    cards = ("LAC",)
    provenance = Provenance(
        "ProxyFL, CVPR",
        2026,
        "pseudo-labels, others drawn to head rows",
        "by number of images, head tuned on heads",
        "our reading of its constants",
    )

    cutoff: Share = 0.95
    """Least confidence of a pseudo-label, by the local model."""
    undecided_weight: NotNegative = 1.0
    """Of the attraction of images below it; 0 leaves them out."""
    temperature: Positive = 0.1
    """Of the cosines between features and head rows."""
    tuning_steps: Whole = 10
    """Steps of the averaged head on the clients' rows, in each round; 0 for none."""
    tuning_lr: Positive = 0.1
    """Of these steps."""

    def objective(self, task: Task, bench: Workbench) -> Objective:
        """Learn from labels, from sure images and from undecided ones."""
        settings = self.cutoff, self.undecided_weight, self.temperature
        return SemiSupervised(Supervised(bench), UndecidedProxies(bench, *settings))

    def contributions(self, updates: Sequence[Update]) -> Tensor:
        """Return the part of all images that each client has."""
        return by_num_images(updates)

    def aggregate(self, state: ServerState, updates: Sequence[Update]) -> ServerState:
        """Average the updates, then tune the head on those of clients that count."""
        new = super().aggregate(state, updates)
        heads = [
            update.weights[_HEAD].double()
            for update in updates
            if new.contributions.get(update.client)
        ]
        if not heads:
            return new
        mean = new.weights[_HEAD]
        rows = torch.stack(heads)
        tuned = tuned_rows(mean.double(), rows, self.tuning_steps, self.tuning_lr)
        return replace(new, weights={**new.weights, _HEAD: tuned.to(mean.dtype)})
