import random
from dataclasses import dataclass, replace

import pytest
import torch
from torch import nn

from fedsemi.client.learners import LocalLearner
from fedsemi.messages import ClientInfo, Update
from fedsemi.methods.averaging import draw_clients
from fedsemi.methods.fedavg import FedAvgSemi
from fedsemi.methods.semianagg import SemiAnAgg
from fedsemi.objectives.diversity import anchor_seeds
from fedsemi.state import ServerState
from fedsemi.weights import digest


def _state(labeled=(3,), clients=10, round=0):
    infos = [ClientInfo(i, 5 * (i in labeled), 5) for i in range(clients)]
    return ServerState({"x": torch.zeros(1)}, tuple(infos), round=round, seed=4)


def test_half_of_the_clients_are_asked_and_one_of_them_has_labels():
    for round in range(50):
        drawn = draw_clients(_state(round=round), 0.5)
        assert len(drawn) == 5
        assert any(client.num_labeled for client in drawn)
        assert [c.id for c in drawn] == sorted(c.id for c in drawn)


def test_the_draw_depends_on_the_round_and_covers_everybody():
    drawn = [tuple(c.id for c in draw_clients(_state(round=r), 0.3)) for r in range(30)]
    assert drawn[4] == tuple(c.id for c in draw_clients(_state(round=4), 0.3))
    assert len(set(drawn)) > 20
    assert {id for ids in drawn for id in ids} == set(range(10))


def test_a_tiny_part_still_asks_the_labeled_client():
    assert [c.id for c in draw_clients(_state(), 0.01)] == [3]


def test_without_labels_anybody_may_be_drawn():
    assert len(draw_clients(_state(labeled=()), 0.5)) == 5


def test_shares_sum_to_one_over_those_present(tiny_setup, tiny_clients, play):
    state, updates, _ = play(FedAvgSemi(tiny_setup, participation=0.4), tiny_clients)
    assert len(updates) == 2
    assert sum(state.contributions.values()) == pytest.approx(1)


@pytest.mark.parametrize(("round", "share"), [(0, 0.8), (5, 0.5), (10, 0.2), (99, 0.2)])
def test_the_labeled_share_moves_in_a_straight_line(tiny_setup, round, share):
    method = FedAvgSemi(
        tiny_setup, labeled_share=0.8, labeled_share_end=0.2, ramp_rounds=10
    )
    updates = [
        Update(0, round, {}, num_labeled=10, num_unlabeled=0),
        Update(1, round, {}, num_labeled=0, num_unlabeled=9, num_pseudo=4),
    ]
    assert method.contributions(updates).tolist() == pytest.approx([share, 1 - share])


def test_parts_travel_and_are_averaged_but_are_no_part_of_the_model():
    state = replace(_state(clients=2), parts={"p": torch.tensor([4.0])})
    task = state.task(state.clients[0])
    assert set(task.weights) == {"x", "p"}
    updates = [
        Update(i, 0, {"x": torch.tensor([x]), "p": torch.tensor([p])}, 1, 0)
        for i, (x, p) in enumerate([(1.0, 2.0), (3.0, 6.0)])
    ]
    shares = torch.tensor([0.25, 0.75])
    after = state.advanced(state.mixed(updates, shares), updates, shares)
    assert after.weights.keys() == {"x"} and float(after.weights["x"]) == 2.5
    assert after.parts.keys() == {"p"} and float(after.parts["p"]) == 5.0


@dataclass(frozen=True)
class Projecting(LocalLearner):
    """Has a part that is drawn, and a number that Python draws."""

    name: str = "projecting"

    @property
    def parts(self):
        def make(model):
            projector = nn.Linear(model.head.in_features, 3)
            projector.register_buffer("drawn", torch.tensor(random.random()))
            return {"projector": projector}

        return make

    def objective(self, bench, probe=None):
        raise NotImplementedError


def test_random_parts_of_a_learner_depend_on_the_seed_of_the_stage_alone(tiny_setup):
    method = FedAvgSemi(tiny_setup, learner=Projecting())
    weights = tiny_setup.model.build(0).state_dict()
    clients = (ClientInfo(0, 5, 5),)

    def begun(seed):
        return digest(method.init(weights, clients, seed).parts)

    before = begun(1)
    torch.rand(3), random.random()
    assert begun(1) == before != begun(2)
    torch.manual_seed(7)
    drawn = torch.rand(1)
    torch.manual_seed(7)
    begun(3)
    assert torch.equal(torch.rand(1), drawn), "nobody else's draws are moved"


def test_several_anchors_send_as_many_numbers_as_one(tiny_setup, tiny_clients, play):
    learner = {"learner": replace(FedAvgSemi(tiny_setup).learner, cutoff=0.0)}
    one = play(SemiAnAgg(tiny_setup, anchors=1, **learner), tiny_clients, 1)[1]
    three = play(SemiAnAgg(tiny_setup, anchors=3, **learner), tiny_clients, 1)[1]
    for a, b in zip(one, three, strict=True):
        assert a.statistics["diversity"].shape == b.statistics["diversity"].shape
    assert "diversity_spread" not in one[1].metrics
    assert three[1].metrics["diversity_spread"] > 0
    assert three[4].metrics["diversity_spread"] == 0  # a client without data


def test_three_anchors_give_the_mean_of_each_alone(tiny_setup, tiny_clients, play):
    learner = {"learner": replace(FedAvgSemi(tiny_setup).learner, cutoff=0.0)}
    seeds = anchor_seeds(5, 3)
    alone = [
        play(SemiAnAgg(tiny_setup, anchor_seed=s, **learner), tiny_clients, 1)[1][1]
        for s in seeds
    ]
    method = SemiAnAgg(tiny_setup, anchor_seed=5, anchors=3, **learner)
    together = play(method, tiny_clients, 1)[1][1]
    rows = torch.stack([update.statistics["diversity"] for update in alone])
    assert torch.allclose(together.statistics["diversity"], rows.mean(0), atol=1e-6)
    spread = rows[:, rows[0] > 0].mean(1).std()
    assert together.metrics["diversity_spread"] == pytest.approx(
        float(spread), abs=1e-6
    )


def test_workers_change_no_bit_of_a_run_with_half_the_clients(
    tiny_setup, tiny_clients, play
):
    method = SemiAnAgg(tiny_setup, participation=0.6, anchors=2)
    alone, together = (play(method, tiny_clients, 2, workers)[0] for workers in (1, 2))
    assert digest(alone.weights) == digest(together.weights)
