from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
import torch

from fedsemi.client.learners import PseudoLabeling
from fedsemi.data.client import Client
from fedsemi.engines import local_engine
from fedsemi.errors import ProtocolError
from fedsemi.messages import DIVERSITY, ClientInfo, Update
from fedsemi.methods.fedavg import FedAvgSemi, UniformSemi
from fedsemi.methods.permuted import PermutedSemi
from fedsemi.methods.semianagg import SemiAnAgg
from fedsemi.objectives.workbench import Setup
from fedsemi.server.rounds import run
from fedsemi.state import ServerState
from fedsemi.weights import weights_of

Make = Callable[..., Client]
EAGER = PseudoLabeling(cutoff=0.34)


def one_round(method: SemiAnAgg, clients: list[Client]) -> ServerState:
    with local_engine(method, clients) as engine:
        weights = weights_of(method.setup.model.build(0))
        state = method.init(weights, engine.clients(), seed=1)
        return next(run(method, engine, state, rounds=1)).state


def test_a_client_sends_one_number_per_class_beside_its_model(
    tiny_setup: Setup, make_client: Make
) -> None:
    method = SemiAnAgg(tiny_setup, EAGER)
    client = make_client(1, 0, 12)
    state = method.init(weights_of(tiny_setup.model.build(0)), [client.info])
    update, memory = method.train(method.plan(state)[0], client, {})
    assert list(update.statistics) == [DIVERSITY]
    assert update.statistics[DIVERSITY].shape == (3,)
    assert any(name.endswith("anchor_feature") for name in memory)


def test_the_server_announces_seed_and_hash_of_the_anchor(tiny_setup: Setup) -> None:
    method = SemiAnAgg(tiny_setup, anchor_seed=5)
    state = method.init(weights_of(tiny_setup.model.build(0)), [])
    client = replace(state, clients=(ClientInfo(0, 0, 10),))
    task = method.plan(client)[0]
    assert int(task.broadcast["anchor_seed"]) == 5
    assert len(task.broadcast["anchor_sha256"]) == 32


def test_a_client_refuses_a_wrong_anchor_hash(
    tiny_setup: Setup, make_client: Make
) -> None:
    method = SemiAnAgg(tiny_setup)
    client = make_client(1, 0, 4)
    state = method.init(weights_of(tiny_setup.model.build(0)), [client.info])
    task = method.plan(state)[0]
    wrong = {**task.broadcast, "anchor_sha256": torch.zeros(32, dtype=torch.uint8)}
    with pytest.raises(ProtocolError, match="FS2111"):
        method.train(replace(task, broadcast=wrong), client, {})


def test_contributions_are_keyed_by_client_id(
    tiny_setup: Setup, make_client: Make
) -> None:
    clients = [make_client(3, 8, 0), make_client(9, 0, 8)]
    state = one_round(SemiAnAgg(tiny_setup, EAGER), clients)
    assert state.contributions.keys() == {3, 9}
    assert state.contributions[3] == pytest.approx(0.5)
    assert sum(state.contributions.values()) == pytest.approx(1)


def test_nobody_confident_leaves_the_labeled_model_alone(
    tiny_setup: Setup, make_client: Make
) -> None:
    clients = [make_client(0, 8, 0), make_client(1, 0, 8)]
    state = one_round(SemiAnAgg(tiny_setup, PseudoLabeling(cutoff=1.0)), clients)
    assert dict(state.contributions) == {0: 1.0, 1: 0.0}


def test_a_client_without_data_takes_part_with_no_share(
    tiny_setup: Setup, make_client: Make
) -> None:
    clients = [make_client(0, 8, 0), make_client(1, 0, 0), make_client(2, 0, 8)]
    state = one_round(SemiAnAgg(tiny_setup, EAGER), clients)
    assert state.contributions[1] == 0.0


def test_partially_labeled_clients_take_part_in_both_halves(
    tiny_setup: Setup, make_client: Make
) -> None:
    clients = [make_client(k, 4, 12) for k in range(3)]
    state = one_round(SemiAnAgg(tiny_setup, EAGER), clients)
    assert all(share > 1 / 6 for share in state.contributions.values())


@pytest.mark.parametrize("method", [FedAvgSemi, UniformSemi, SemiAnAgg, PermutedSemi])
def test_all_weightings_share_the_same_local_learning(
    tiny_setup: Setup, make_client: Make, method: type[SemiAnAgg]
) -> None:
    client = make_client(1, 0, 12)
    made = method(tiny_setup, EAGER)
    state = made.init(weights_of(tiny_setup.model.build(0)), [client.info], seed=2)
    update, _ = made.train(made.plan(state)[0], client, {})
    reference = FedAvgSemi(tiny_setup, EAGER)
    state = reference.init(weights_of(tiny_setup.model.build(0)), [client.info], seed=2)
    expected, _ = reference.train(reference.plan(state)[0], client, {})
    for key, value in expected.weights.items():
        assert torch.equal(update.weights[key], value)


@pytest.mark.parametrize(
    "selection", ["fixmatch", "flexmatch", "softmatch", "freematch"]
)
def test_every_selection_trains(
    tiny_setup: Setup, make_client: Make, selection: str
) -> None:
    learner = PseudoLabeling(selection=selection, cutoff=0.34)  # type: ignore[arg-type]
    clients = [make_client(0, 8, 0), make_client(1, 0, 20)]
    state = one_round(SemiAnAgg(tiny_setup, learner), clients)
    assert all(torch.isfinite(value).all() for value in state.weights.values())


def test_the_control_sharpens_the_shares_that_it_shuffles(tiny_setup: Setup) -> None:
    statistics = [{DIVERSITY: torch.full((3,), 0.1 * k)} for k in (1, 2, 4)]
    updates = [Update(k, 0, {}, 0, 9, 5, each) for k, each in enumerate(statistics)]
    for sharpness in (0.0, 1.0, 3.0):
        shares = [
            method(tiny_setup, sharpness=sharpness).contributions(updates).sort().values
            for method in (SemiAnAgg, PermutedSemi)
        ]
        assert torch.equal(*shares)
