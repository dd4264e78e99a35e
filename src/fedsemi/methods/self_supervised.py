"""What self-supervised stages share: all images, no labels, a head that looks on."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

import torch

from fedsemi.client.local import ObjectiveMaker, answer, recall
from fedsemi.client.networks import teacher_of
from fedsemi.contributions import by_data_size, by_num_images
from fedsemi.data.client import Client
from fedsemi.messages import ClientInfo, Memory, Task, Update, Weights
from fedsemi.method import Method
from fedsemi.models import Classifier
from fedsemi.objectives.online_head import OnlineHead, pooled
from fedsemi.objectives.workbench import Parts, Setup, Workbench
from fedsemi.seeds import Streams
from fedsemi.settings import NotNegative, Positive, Whole
from fedsemi.state import ServerState
from fedsemi.weights import weighted_mean

_RAMP_ROUNDS = 10
_RAMP_FROM = 1e-6
_FLOOR = 1e-5


@dataclass(frozen=True)
class SelfSupervised(Method[ServerState]):
    """Every client learns from all its images; the server averages by their number."""

    own_metrics = frozenset({"online_accuracy"})

    setup: Setup
    lr: Positive = 0.008
    """Learning rate of everything but the head."""
    head_lr: NotNegative = 0.1
    """Learning rate of the head behind the stop-gradient."""
    cosine_rounds: Whole = 0
    """Rounds in which the learning rates fall to their floor; 0 for constant ones."""
    monitor_labels: Literal["labeled", "none"] = "labeled"
    """Whether labeled clients teach the head; the encoder never sees a label."""

    def parts(self, model: Classifier) -> dict[str, torch.nn.Module]:
        """Make what travels beside the classifier."""
        raise NotImplementedError

    def init(
        self, weights: Weights, clients: Sequence[ClientInfo], seed: int = 0
    ) -> ServerState:
        """Begin with these weights and random parts."""
        parts = self.setup.first_parts(weights, self.parts, seed)
        return ServerState(weights, tuple(clients), seed=seed, parts=parts)

    def learn(
        self, task: Task, client: Client, memory: Memory, make: ObjectiveMaker
    ) -> tuple[Update, Memory]:
        """Learn from all images of a client; report its true counts."""
        tune = partial(self._set_rates, task.round)
        parts: Parts = self.parts
        update, memory = answer(
            task, pooled(client), memory, self.setup, make, parts, tune=tune
        )
        counts = replace(
            update, num_labeled=client.num_labeled, num_unlabeled=client.num_unlabeled
        )
        return counts, memory

    def only_look(
        self, task: Task, client: Client, memory: Memory, make: ObjectiveMaker
    ) -> tuple[Update, Memory]:
        """Let the objective look at all images once, and send the model back as is."""
        bench = Workbench(pooled(client), self.setup, Streams(task.seed))
        objective = recall(make(bench), memory).to(self.setup.device)
        objective.start_epoch(teacher_of(self.setup, task.weights, self.parts))
        update = Update(
            client=task.client,
            round=task.round,
            weights=dict(task.weights),
            num_labeled=client.num_labeled,
            num_unlabeled=client.num_unlabeled,
            statistics={k: v.cpu() for k, v in objective.statistics().items()},
        )
        return update, {k: v.cpu() for k, v in objective.state_dict().items()}

    def online(self, client: Client) -> OnlineHead:
        """Make the head's loss from the labels that the client has."""
        used = len(client.labels) if self.monitor_labels == "labeled" else 0
        return OnlineHead(client.labels[:used])

    def aggregate(self, state: ServerState, updates: Sequence[Update]) -> ServerState:
        """Average by number of images, but the head by number of labels."""
        shares = by_num_images(updates)
        weights = dict(state.mixed(updates, shares))
        head = {key: state.weights[key] for key in weights if key.startswith("head.")}
        by_labels = by_data_size(updates)
        weights |= weighted_mean(head, [u.weights for u in updates], by_labels)
        return state.advanced(weights, updates, shares)

    def rate(self, base: float, round: int) -> float:
        """Return the learning rate of a round: a ramp, then half a cosine."""
        if not self.cosine_rounds:
            return base
        if round < _RAMP_ROUNDS:
            return _RAMP_FROM + (base - _RAMP_FROM) * round / _RAMP_ROUNDS
        done = min(round / self.cosine_rounds, 1.0)
        return _FLOOR + (base - _FLOOR) * (1 + math.cos(math.pi * done)) / 2

    def _set_rates(
        self, round: int, student: Classifier, optimizer: torch.optim.SGD
    ) -> None:
        parts = student.named_children()
        for (name, _), group in zip(parts, optimizer.param_groups, strict=True):
            base = self.head_lr if name == "head" else self.lr
            group["lr"] = self.rate(base, round)
