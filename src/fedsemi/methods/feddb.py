"""FedDB: labels and shares freed of the classes that a client happens to have.

Zhu et al., Estimating before Debiasing: A Bayesian Approach to Detaching Prior Bias in
Federated Semi-Supervised Learning, IJCAI 2024. A client divides its predictions by
their own mean before it takes labels from them, and sends that mean, C numbers. The
server looks for shares w with which the mixed mean prediction is uniform, i.e. that
minimize mse(Σ_k w_k p̄_k, 1/C), and steps with momentum.
The released code looks in a hundred steps that stay close to equal shares.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Literal

import numpy as np
import torch
from pydantic import Field
from torch import Tensor

from fedsemi.contributions import statistic
from fedsemi.messages import MEAN_PREDICTION, ClientInfo, Task, Update, Weights
from fedsemi.method import Provenance, Statistic
from fedsemi.methods.own_learner import OwnLearner
from fedsemi.methods.server_momentum import MomentumState, stepped
from fedsemi.objectives.base import Objective, SemiSupervised
from fedsemi.objectives.debiased import DebiasedPseudoLabel
from fedsemi.objectives.supervised import Supervised
from fedsemi.objectives.workbench import Workbench
from fedsemi.settings import Share

Shares = Literal["released", "exact"]

_RATE, _DECAY = 1.0 * (1 + 0.9), 0.9
"""A first step of SGD with rate 1 and Nesterov momentum .9 goes 1.9 gradients far."""
_RIDGE = 1e-9
"""Of several minimizers, the most even one is wanted."""


@dataclass(frozen=True)
class FedDB(OwnLearner[MomentumState]):
    """Debiased pseudo-labels, and shares that make the mean prediction even."""

    name = "feddb"
    cards = ("LAC", "LPC")
    provenance = Provenance(
        "FedDB, IJCAI",
        2024,
        "debiased pseudo-labels",
        "towards an even mean prediction, with momentum",
        "released shares are almost equal; see `shares`",
    )

    shares: Shares = "released"
    """The hundred steps of the released code, or the exact minimizer."""
    cutoff: Share = 0.95
    """Least debiased confidence of a pseudo-label."""
    prediction_keep: Share = 0.5
    """What the running mean prediction keeps of itself in a step."""
    server_momentum: Annotated[float, Field(ge=0, lt=1)] = 0.5
    """What the server keeps of its last step."""

    @property
    def statistics(self) -> Mapping[str, Statistic]:
        """What the server reads beside the models."""
        return {MEAN_PREDICTION: Statistic(self.setup.model.num_classes, 0, 1)}

    def init(
        self, weights: Weights, clients: Sequence[ClientInfo], seed: int = 0
    ) -> MomentumState:
        """Begin with these weights, at rest."""
        self.check_needs(clients)
        return MomentumState(weights, tuple(clients), seed=seed)

    def objective(self, task: Task, bench: Workbench) -> Objective:
        """Learn from labels and from debiased pseudo-labels, made once a round."""
        unsupervised = DebiasedPseudoLabel(bench, self.cutoff, self.prediction_keep)
        return SemiSupervised(Supervised(bench), unsupervised)

    def contributions(self, updates: Sequence[Update]) -> Tensor:
        """Return shares by mean predictions; who has only labels counts as one of K."""
        senders = [i for i, u in enumerate(updates) if MEAN_PREDICTION in u.statistics]
        others = [
            i for i, u in enumerate(updates) if u.num_labeled and i not in senders
        ]
        shares = torch.zeros(len(updates), dtype=torch.float64)
        number = len(senders) + len(others)
        shares[others] = 1 / max(number, 1)
        if senders:
            rows = torch.stack(
                [statistic(updates[i], MEAN_PREDICTION) for i in senders]
            )
            find = exact_shares if self.shares == "exact" else released_shares
            shares[senders] = find(rows) * len(senders) / number
        return shares

    def aggregate(
        self, state: MomentumState, updates: Sequence[Update]
    ) -> MomentumState:
        """Step towards the mean."""
        shares = self.contributions(updates)
        mean = state.mixed(updates, shares)
        parameters = self.setup.parameter_names
        weights, velocity = stepped(state, mean, parameters, self.server_momentum)
        return replace(state.advanced(weights, updates, shares), velocity=velocity)


def released_shares(prediction: Tensor) -> Tensor:
    """Return what the released loop ends in for mean predictions [K, C].

    From equal shares, a hundred times w ← softmax(w − 1.9 (∇ mse + 0.9 w)).
    """
    clients, classes = prediction.shape
    shares = torch.full((clients,), 1 / clients, dtype=torch.float64)
    for _ in range(100):
        gap = shares @ prediction - 1 / classes
        slope = 2 / classes * (prediction @ gap)
        shares = (shares - _RATE * (slope + _DECAY * shares)).softmax(0)
    return shares


def exact_shares(prediction: Tensor) -> Tensor:
    """Return the shares whose mixed prediction is nearest to uniform, [K].

    Shares sum to one, so this is the point of least norm in the hull of the rows
    p̄_k − 1/C. A least-squares problem without negative numbers finds it: with one more
    equation Σ w = 1, its solution is a multiple of the shares.
    """
    from scipy.optimize import nnls  # slow to import, and only needed here

    clients, classes = prediction.shape
    away = (prediction - 1 / classes).numpy().T
    system = np.vstack([away, _RIDGE**0.5 * np.eye(clients), np.ones((1, clients))])
    target = np.append(np.zeros(classes + clients), 1.0)
    found = torch.from_numpy(nnls(system, target)[0])
    return found / found.sum()
