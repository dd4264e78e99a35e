"""What labels are worth, by the rule that asks for them: with a truth that is known.

A federation is run as it is. Each site then ranks its unlabeled pictures with the model
of that run and gets the labels of the first ones; all stages are run once more, from
that model on, with these labels. So it is with nobody asked, too, since more rounds
alone may help. Only the simulation knows the labels beforehand, and it says them only
after a rule has chosen.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property

import numpy as np
import torch

from fedsemi.asking.pool import said
from fedsemi.asking.rules import RULES, Floats, Pool
from fedsemi.client.evaluate import MAIN_SCORES, Metrics
from fedsemi.data.augment import resize
from fedsemi.data.client import Client
from fedsemi.data.partition import ClientIndex, Partition
from fedsemi.messages import Weights
from fedsemi.runs.folder import mean_scores
from fedsemi.runs.model_card import ModelCard
from fedsemi.seeds import seed_of
from fedsemi.server.running_mean import delivered
from fedsemi.simulation.build import Simulation, assemble
from fedsemi.simulation.run import run_simulation
from fedsemi.use.deployed import Deployed, deployed

NOBODY = "nobody asked"
"""The rule that asks for nothing."""
TESTS = 5
"""A score is the mean over the last tests, as in all tables of results."""


@dataclass(frozen=True)
class Point:
    """One run of a curve: which rule asked for how many labels, and what came of it."""

    rule: str
    budget: int
    scores: Mapping[str, float | None]
    asked: tuple[int, ...]
    """How many of each class were among the labels that were asked for."""
    labels: int
    """All that the run learned from."""
    seconds: float


@dataclass(frozen=True, eq=False)
class Base:
    """The run that everybody begins with."""

    simulation: Simulation
    weights: Weights

    @cached_property
    def pools(self) -> dict[int, Pool]:
        """What each site sees in its pictures: once, for all rules and budgets."""
        model = deployed(ModelCard.of(self.simulation), self.weights)
        clients = self.simulation.federation.clients
        return {client.id: self._pool(model, client) for client in clients}

    def _pool(self, model: Deployed, client: Client) -> Pool:
        """Let a client look at its own pictures, as it would with its own folder."""
        size, simulation = self.simulation.views.size, self.simulation
        probs, features = said(model, resize(client.unlabeled_images, size))
        counts = torch.bincount(client.labels, minlength=simulation.dataset.num_classes)
        known: Floats = np.empty((0, features.shape[1]))
        if client.num_labeled:
            known = said(model, resize(client.labeled_images, size))[1]
        seed = seed_of(simulation.experiment.seed, "ask", client.id)
        return Pool(probs, features, counts.numpy(), known, seed)


@dataclass(frozen=True, eq=False)
class _Continued(Simulation):
    """A simulation that begins with a trained model."""

    weights: Weights = field(default_factory=dict, kw_only=True)

    def initial_weights(self) -> Weights:
        return self.weights


def run_base(simulation: Simulation) -> Base:
    """Run the federation before anybody is asked."""
    return Base(simulation, _run(simulation)[0])


def run_asked(base: Base, rule: str, budget: int) -> Point:
    """Let all sites ask by a rule, and go on with the labels that they got."""
    old, start = base.simulation, time.perf_counter()
    chosen = {} if rule == NOBODY else ask_all(base, rule, budget)
    owned, labels = old.partition.clients, old.dataset.train.labels.numpy()
    rows = [labels[owned[id].unlabeled[some]] for id, some in chosen.items()]
    asked = np.bincount(
        np.concatenate([np.empty(0, dtype=np.int64), *rows]),
        minlength=old.dataset.num_classes,
    )
    new = continued(base, with_labels(old.partition, chosen))
    scores = _run(new)[1]
    known = sum(client.num_labeled for client in new.federation.clients)
    seconds = time.perf_counter() - start
    return Point(rule, budget, scores, tuple(asked.tolist()), known, seconds)


def continued(base: Base, partition: Partition) -> Simulation:
    """Make a run once more, from its model on, with other labels."""
    old = base.simulation
    new = assemble(old.experiment, old.dataset, partition)
    parts = {each.name: getattr(new, each.name) for each in fields(new)}
    return _Continued(**parts, weights=base.weights)


def ask_all(base: Base, rule: str, budget: int) -> dict[int, list[int]]:
    """Return which of its unlabeled pictures each site asks about, by client id."""
    clients = base.simulation.federation.clients
    shares = divided(budget, [client.num_unlabeled for client in clients])
    return {
        client.id: RULES[rule](base.pools[client.id], share)
        for client, share in zip(clients, shares, strict=True)
        if share
    }


def divided(budget: int, sizes: Sequence[int]) -> list[int]:
    """Deal a budget out one by one to all that have something left to ask about.

    >>> divided(10, [9, 2, 0, 9])
    [4, 2, 0, 4]
    """
    shares = [0] * len(sizes)
    while budget and shares != list(sizes):
        for place, size in enumerate(sizes):
            if budget and shares[place] < size:
                shares[place] += 1
                budget -= 1
    return shares


def with_labels(partition: Partition, chosen: Mapping[int, Sequence[int]]) -> Partition:
    """Move rows of the unlabeled part of clients to their labeled part."""
    return Partition(
        tuple(
            _moved(index, chosen.get(id, ()))
            for id, index in enumerate(partition.clients)
        )
    )


def _moved(index: ClientIndex, rows: Sequence[int]) -> ClientIndex:
    taken = np.zeros(len(index.unlabeled), dtype=bool)
    taken[list(rows)] = True
    labeled = np.concatenate([index.labeled, index.unlabeled[list(rows)]])
    return ClientIndex(labeled, index.unlabeled[~taken])


def _run(simulation: Simulation) -> tuple[Weights, dict[str, float | None]]:
    """Return the last model, and the mean of the last tests of the last stage."""
    last = len(simulation.experiment.stages) - 1
    tests: list[Metrics] = []
    weights: Weights = {}
    for step in run_simulation(simulation):
        weights = delivered(simulation.experiment, step)
        if step.record.test is not None and step.record.stage == last:
            tests.append(step.record.test)
    found = mean_scores(tests[-TESTS:])
    return weights, {name: found[name] for name in MAIN_SCORES}
