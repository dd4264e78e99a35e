from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
import torch

from fedsemi.data.client import Client
from fedsemi.engines import local_engine
from fedsemi.errors import ProtocolError
from fedsemi.learners import PseudoLabeling
from fedsemi.local import Setup
from fedsemi.messages import DIVERSITY, ClientInfo
from fedsemi.method import ServerState
from fedsemi.methods.fedavg import FedAvgSemi, UniformSemi
from fedsemi.methods.semianagg import PermutedSemi, SemiAnAgg
from fedsemi.rounds import run
from fedsemi.weights import weights_of

Make = Callable[..., Client]
EAGER = PseudoLabeling(cutoff=0.26)


def one_round(method: SemiAnAgg, clients: list[Client]) -> ServerState:
    with local_engine(method, clients) as engine:
        weights = weights_of(method.setup.model.build(0))
        state = method.init(weights, engine.clients(), seed=1)
        return next(run(method, engine, state, rounds=1)).state


def test_a_client_sends_one_number_per_class_beside_its_model(
    setup: Setup, make_client: Make
) -> None:
    method = SemiAnAgg(setup, EAGER)
    client = make_client(1, unlabeled=12)
    state = method.init(weights_of(setup.model.build(0)), [client.info])
    update, memory = method.train(method.plan(state)[0], client, {})
    assert list(update.statistics) == [DIVERSITY]
    assert update.statistics[DIVERSITY].shape == (4,)
    assert "unsupervised.probe.anchor_feature" in memory


def test_the_server_announces_seed_and_hash_of_the_anchor(setup: Setup) -> None:
    method = SemiAnAgg(setup, anchor_seed=5)
    state = method.init(weights_of(setup.model.build(0)), [])
    client = replace(state, clients=(ClientInfo(0, 0, 10),))
    task = method.plan(client)[0]
    assert int(task.broadcast["anchor_seed"]) == 5
    assert len(task.broadcast["anchor_sha256"]) == 32


def test_a_client_refuses_a_wrong_anchor_hash(setup: Setup, make_client: Make) -> None:
    method = SemiAnAgg(setup)
    client = make_client(1, unlabeled=4)
    state = method.init(weights_of(setup.model.build(0)), [client.info])
    task = method.plan(state)[0]
    wrong = {**task.broadcast, "anchor_sha256": torch.zeros(32, dtype=torch.uint8)}
    with pytest.raises(ProtocolError, match="FS2111"):
        method.train(replace(task, broadcast=wrong), client, {})


def test_contributions_are_keyed_by_client_id(setup: Setup, make_client: Make) -> None:
    clients = [make_client(3, labeled=8), make_client(9, unlabeled=8)]
    state = one_round(SemiAnAgg(setup, EAGER), clients)
    assert state.contributions.keys() == {3, 9}
    assert state.contributions[3] == pytest.approx(0.5)
    assert sum(state.contributions.values()) == pytest.approx(1)


def test_nobody_confident_leaves_the_labeled_model_alone(
    setup: Setup, make_client: Make
) -> None:
    clients = [make_client(0, labeled=8), make_client(1, unlabeled=8)]
    state = one_round(SemiAnAgg(setup, PseudoLabeling(cutoff=1.0)), clients)
    assert dict(state.contributions) == {0: 1.0, 1: 0.0}


def test_a_client_without_data_takes_part_with_no_share(
    setup: Setup, make_client: Make
) -> None:
    clients = [make_client(0, labeled=8), make_client(1), make_client(2, unlabeled=8)]
    state = one_round(SemiAnAgg(setup, EAGER), clients)
    assert state.contributions[1] == 0.0


def test_partially_labeled_clients_take_part_in_both_halves(
    setup: Setup, make_client: Make
) -> None:
    clients = [make_client(k, labeled=4, unlabeled=12) for k in range(3)]
    state = one_round(SemiAnAgg(setup, EAGER), clients)
    assert all(share > 1 / 6 for share in state.contributions.values())


@pytest.mark.parametrize("method", [FedAvgSemi, UniformSemi, SemiAnAgg, PermutedSemi])
def test_all_weightings_share_the_same_local_learning(
    setup: Setup, make_client: Make, method: type[SemiAnAgg]
) -> None:
    client = make_client(1, unlabeled=12)
    made = method(setup, EAGER)
    state = made.init(weights_of(setup.model.build(0)), [client.info], seed=2)
    update, _ = made.train(made.plan(state)[0], client, {})
    reference = FedAvgSemi(setup, EAGER)
    state = reference.init(weights_of(setup.model.build(0)), [client.info], seed=2)
    expected, _ = reference.train(reference.plan(state)[0], client, {})
    for key, value in expected.weights.items():
        assert torch.equal(update.weights[key], value)


@pytest.mark.parametrize(
    "selection", ["fixmatch", "flexmatch", "softmatch", "freematch"]
)
def test_every_selection_trains(
    setup: Setup, make_client: Make, selection: str
) -> None:
    learner = PseudoLabeling(selection=selection, cutoff=0.26)  # type: ignore[arg-type]
    clients = [make_client(0, labeled=8), make_client(1, unlabeled=20)]
    state = one_round(SemiAnAgg(setup, learner), clients)
    assert all(torch.isfinite(value).all() for value in state.weights.values())
