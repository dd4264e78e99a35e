"""A running mean of the global model: the same model with less noise.

It is tested beside the global model, or delivered instead of it, and changes nothing
in training. FixMatch and its heirs report such a mean of the weights of all steps; here
it is over rounds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol

import torch

from fedsemi.config.experiment import Experiment
from fedsemi.messages import Update, Weights
from fedsemi.method import Method, WrappedMethod
from fedsemi.state import S


class Ended(Protocol):
    """The end of a run: its last step, or the checkpoint of it."""

    @property
    def weights(self) -> Weights:
        """The global model."""

    @property
    def running_mean(self) -> Weights:
        """The mean; empty if none is kept, or if no round has succeeded."""


def delivered(experiment: Experiment, end: Ended) -> Weights:
    """Return the model that a run ends with."""
    mean = experiment.evaluation.delivers == "running-mean"
    return (end.running_mean if mean else {}) or end.weights


class WithRunningMean(WrappedMethod[S]):
    """A method that also keeps a mean of the models that it made."""

    def __init__(self, method: Method[S], keep: float) -> None:
        super().__init__(method)
        self.keep = keep
        """What the mean keeps of itself in a round."""

    def aggregate(self, state: S, updates: Sequence[Update]) -> S:
        """Aggregate as the method does; move the mean when the round is over."""
        new = self.method.aggregate(state, updates)
        # It begins with the model that a stage does, also where a round has phases.
        mean = state.running_mean or state.weights
        if new.round > state.round:
            mean = moved(mean, new.weights, self.keep)
        return replace(new, running_mean=mean)


def moved(mean: Weights, weights: Weights, keep: float) -> Weights:
    """Move a mean toward new weights; counters are those of the new ones."""
    return {
        key: torch.lerp(mean[key], new, 1 - keep) if new.is_floating_point() else new
        for key, new in weights.items()
    }
