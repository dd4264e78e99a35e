"""A running mean of the global model, tested beside it: the same model with less noise.

It changes nothing in training. FixMatch and its heirs report such a mean of the weights
of all steps; here it is over rounds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Generic

import torch

from fedsemi.data.client import Client
from fedsemi.messages import ClientInfo, Memory, Task, Update, Weights
from fedsemi.method import Method, S


@dataclass(frozen=True, eq=False)
class WithRunningMean(Generic[S]):
    """A method that also keeps a mean of the models that it made."""

    method: Method[S]
    keep: float
    """What the mean keeps of itself in a round."""

    def init(self, weights: Weights, clients: Sequence[ClientInfo], seed: int = 0) -> S:
        """Begin as the method does."""
        return self.method.init(weights, clients, seed)

    def plan(self, state: S) -> Sequence[Task]:
        """Plan as the method does."""
        return self.method.plan(state)

    def train(
        self, task: Task, client: Client, memory: Memory
    ) -> tuple[Update, Memory]:
        """Train as the method does."""
        return self.method.train(task, client, memory)

    def aggregate(self, state: S, updates: Sequence[Update]) -> S:
        """Aggregate as the method does; move the mean when the round is over."""
        new = self.method.aggregate(state, updates)
        if new.round == state.round:
            return new
        mean = moved(state.running_mean or state.weights, new.weights, self.keep)
        return replace(new, running_mean=mean)


def moved(mean: Weights, weights: Weights, keep: float) -> Weights:
    """Move a mean toward new weights; counters are those of the new ones."""
    return {
        key: torch.lerp(mean[key], new, 1 - keep) if new.is_floating_point() else new
        for key, new in weights.items()
    }
