"""Labels that sites ask for, revealed by a simulation after they have chosen."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from fedsemi.asking.curve import (
    NOBODY,
    Base,
    ask_all,
    continued,
    divided,
    run_asked,
    run_base,
    with_labels,
)
from fedsemi.asking.rules import RULES
from fedsemi.data.partition import ClientIndex, Partition
from fedsemi.simulation.build import Simulation


@pytest.fixture
def base(simulation: Simulation) -> Base:
    """A base whose model has learned nothing, which is enough to choose with."""
    return Base(simulation, simulation.initial_weights())


def test_a_budget_is_shared_by_those_who_have_something_to_ask_about() -> None:
    assert divided(7, [0, 5, 5, 5]) == [0, 3, 2, 2]
    assert divided(7, [0, 1, 5, 5]) == [0, 1, 3, 3]
    assert divided(99, [0, 1, 5]) == [0, 1, 5]
    assert divided(0, [3]) == [0]


def test_asked_rows_move_to_the_labeled_part_and_no_row_is_lost() -> None:
    one = ClientIndex(np.array([1, 2]), np.array([], dtype=np.int64))
    two = ClientIndex(np.array([], dtype=np.int64), np.array([7, 8, 9]))
    first, second = with_labels(Partition((one, two)), {1: [2, 0]}).clients
    assert (first.labeled.tolist(), first.unlabeled.tolist()) == ([1, 2], [])
    assert (second.labeled.tolist(), second.unlabeled.tolist()) == ([9, 7], [8])


@pytest.mark.parametrize("rule", RULES)
def test_no_rule_can_see_the_labels_that_it_asks_for(rule: str, base: Base) -> None:
    """Other truth about unlabeled images changes nothing about what is asked."""
    old = base.simulation
    labels = old.dataset.train.labels.clone()
    for index in old.partition.clients:
        labels[torch.from_numpy(index.unlabeled)] = 0
    train = replace(old.dataset.train, labels=labels)
    blind = replace(
        old,
        dataset=replace(old.dataset, train=train),
        federation=replace(old.federation, oracle=None),
    )
    chosen = ask_all(base, rule, 9)
    assert ask_all(Base(blind, base.weights), rule, 9) == chosen
    assert sum(map(len, chosen.values())) == 9
    assert 0 not in chosen  # it has labels only


def test_sites_learn_from_the_true_labels_of_what_they_asked_for(base: Base) -> None:
    old = base.simulation
    new = continued(base, with_labels(old.partition, {1: [3, 0]}))
    rows = old.partition.clients[1].unlabeled[[3, 0]]
    client = new.federation.clients[1]
    assert client.labels.tolist() == old.dataset.train.labels[rows].tolist()
    assert client.num_unlabeled == old.federation.clients[1].num_unlabeled - 2
    assert torch.equal(client.labeled_images, old.dataset.train.images[rows])


def test_all_begin_with_the_model_of_the_base(base: Base) -> None:
    marked = {name: value + 1 for name, value in base.weights.items()}
    other = Base(base.simulation, marked)
    assert continued(other, base.simulation.partition).initial_weights() is marked


def test_a_point_counts_what_was_asked_and_what_is_known(
    simulation: Simulation,
) -> None:
    base = run_base(simulation)
    none, some = run_asked(base, NOBODY, 0), run_asked(base, "random", 6)
    assert none.labels == sum(c.num_labeled for c in simulation.federation.clients)
    assert (sum(none.asked), sum(some.asked)) == (0, 6)
    assert some.labels == none.labels + 6
    assert 0 <= some.scores["accuracy"] <= 1  # type: ignore[operator]
    assert run_asked(base, "random", 6).scores == some.scores
