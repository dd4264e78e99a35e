from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

from fedsemi.client.learners import PseudoLabeling
from fedsemi.data.client import Client
from fedsemi.engines import local_engine
from fedsemi.messages import CLASS_COUNT, Update
from fedsemi.methods.class_mass import ClassMass
from fedsemi.methods.semianagg import SemiAnAgg
from fedsemi.objectives.labeler import pseudo_labels_in
from fedsemi.objectives.workbench import Setup
from fedsemi.server.rounds import run
from fedsemi.weights import weights_of

Make = Callable[..., Client]
EAGER = PseudoLabeling(cutoff=0.34)


def test_a_client_sends_how_many_pseudo_labels_of_each_class_it_has(
    tiny_setup: Setup, make_client: Make
) -> None:
    method = ClassMass(tiny_setup, EAGER)
    client = make_client(1, 0, 12)
    state = method.init(weights_of(tiny_setup.model.build(0)), [client.info])
    update, memory = method.train(method.plan(state)[0], client, {})
    label = pseudo_labels_in(memory)
    assert label is not None
    expected = torch.bincount(label[label >= 0].long(), minlength=3)
    assert list(update.statistics) == [CLASS_COUNT]
    assert update.statistics[CLASS_COUNT].tolist() == expected.tolist()
    assert update.num_pseudo == expected.sum() > 0


def told(counts: list[list[float]]) -> list[Update]:
    """One labeled client, and an unlabeled one for each row of counts."""
    unlabeled = [
        Update(k, 0, {}, 0, 100, int(sum(row)), {CLASS_COUNT: torch.tensor(row)})
        for k, row in enumerate(counts, 1)
    ]
    return [Update(0, 0, {}, num_labeled=20, num_unlabeled=0), *unlabeled]


def test_every_class_is_shared_out_by_its_pseudo_labels(tiny_setup: Setup) -> None:
    # Class 0: 3/4 and 1/4. Class 1: all of it at the second. Class 2: nobody's.
    shares = ClassMass(tiny_setup).contributions(told([[3, 0, 0], [1, 5, 0]]))
    assert shares.tolist() == pytest.approx([0.5, 0.5 * 0.375, 0.5 * 0.625])


def test_below_the_floor_a_class_is_not_a_client_s_own(tiny_setup: Setup) -> None:
    # One of the second's 25 labels fell on class 0: 4 %, below the floor of 5.
    counts = told([[8, 0, 0], [1, 24, 0]])
    shares = ClassMass(tiny_setup, floor=0.05).contributions(counts)
    assert shares.tolist() == pytest.approx([0.5, 0.25, 0.25])


def test_at_power_zero_owners_share_a_class_evenly(tiny_setup: Setup) -> None:
    counts = told([[80, 0, 0], [1, 24, 0]])
    shares = ClassMass(tiny_setup, mass_power=0).contributions(counts)
    assert shares.tolist() == pytest.approx([0.5, 0.125, 0.375])


def test_power_zero_without_a_floor_is_semianagg_s_presence_rule(
    tiny_setup: Setup, make_client: Make
) -> None:
    clients = [make_client(0, 9, 0), make_client(1, 0, 12), make_client(2, 0, 15)]
    shares = []
    for method in (
        ClassMass(tiny_setup, EAGER, mass_power=0),
        SemiAnAgg(tiny_setup, EAGER, rule="presence"),
    ):
        with local_engine(method, clients) as engine:
            weights = weights_of(tiny_setup.model.build(0))
            state = method.init(weights, engine.clients(), seed=1)
            after = next(run(method, engine, state, rounds=1)).state
        shares.append(after.contributions)
    assert shares[0] == pytest.approx(shares[1])


def test_nobody_with_pseudo_labels_leaves_all_to_the_labels(tiny_setup: Setup) -> None:
    shares = ClassMass(tiny_setup).contributions(told([[0, 0, 0], [0, 0, 0]]))
    assert shares.tolist() == [1, 0, 0]
