"""CBAFed: counts, thresholds, residual connections, and clients that choose nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest
import torch
from torch.testing import assert_close

from fedsemi.data.client import Client
from fedsemi.errors import ProtocolError
from fedsemi.messages import CLASS_COUNT, PSEUDO_LABEL, ClientInfo, Update
from fedsemi.methods.cbafed import CBAFed, CBAFedState
from fedsemi.objectives.workbench import LocalTraining, Setup
from fedsemi.server.gate import Gate
from fedsemi.server.guard import Guard
from fedsemi.state import GateState
from fedsemi.weights import weights_of


@pytest.fixture
def method(tiny_setup: Setup) -> CBAFed:
    """Choose nearly everything, so that there is something to learn from."""
    return CBAFed(tiny_setup, base=0.3, labeled_epochs=2)


def _state(x: float, residual: float, round: int, classes: int = 3) -> CBAFedState:
    return CBAFedState(
        {"x": torch.tensor([float(x)])},
        (ClientInfo(0, 30, 0), ClientInfo(1, 0, 50)),
        round=round,
        residual={"x": torch.tensor([float(residual)])},
        class_count=torch.ones(classes),
    )


def _updates() -> list[Update]:
    count = {CLASS_COUNT: torch.tensor([10, 10, 10])}
    return [
        Update(0, 0, {"x": torch.tensor([1.0])}, 30, 0, statistics=count),
        Update(
            1,
            0,
            {"x": torch.tensor([4.0])},
            0,
            50,
            num_pseudo=10,
            statistics={CLASS_COUNT: torch.tensor([0, 1, 9])},
        ),
    ]


def test_server_counts_labels_and_pseudo_labels_for_the_next_round(
    method: CBAFed,
) -> None:
    state = method.aggregate(_state(0, 0, 1), _updates())
    assert state.class_count.tolist() == [10, 11, 19]
    assert float(state.weights["x"]) == pytest.approx(1.75)  # (30 · 1 + 10 · 4) / 40


def test_a_label_counts_as_often_as_the_multiplier_says(tiny_setup: Setup) -> None:
    method = CBAFed(tiny_setup, labeled_multiplier=10)
    state = method.aggregate(_state(0, 0, 1), _updates())
    assert float(state.weights["x"]) == pytest.approx((300 + 40) / 310)


@pytest.mark.parametrize(
    ("round", "x", "residual"),
    [(0, 1.75, 8.0), (4, 1.75, 8.0), (5, 4.875, 4.875), (10, 4.875, 4.875)],
)
def test_every_fifth_round_goes_half_way_back(
    method: CBAFed, round: int, x: float, residual: float
) -> None:
    state = method.aggregate(_state(0, 8.0, round), _updates())
    assert float(state.weights["x"]) == pytest.approx(x)
    assert float(state.residual["x"]) == pytest.approx(residual)


@pytest.mark.parametrize(
    ("rounds", "round", "x"),
    [
        (0, 7, 1.75),  # nobody knows which one is the last
        (8, 6, 1.75),
        (8, 7, 4.875),  # (8 + 1.75) / 2, though the last mix was two rounds ago
        (501, 500, 4.875),  # as released
        (5, 4, 1.75),  # too short for a first mix
    ],
)
def test_the_last_round_of_the_stage_goes_half_way_back(
    tiny_setup: Setup, rounds: int, round: int, x: float
) -> None:
    method = CBAFed(replace(tiny_setup, rounds=rounds))
    state = method.aggregate(_state(0, 8.0, round), _updates())
    assert float(state.weights["x"]) == pytest.approx(x)


def test_eleven_epochs_mix_three_of_their_models(tiny_setup: Setup) -> None:
    student = tiny_setup.model.build(0)

    def epochs() -> Iterator[float]:
        for epoch in range(11):
            with torch.no_grad():
                student.head.bias.fill_(float(epoch))
            yield 0.0

    list(CBAFed(tiny_setup).between(epochs(), student))
    # .64 · w0 + .16 · w5 + .2 · w10
    expected = torch.full((3,), 0.16 * 5 + 0.2 * 10)
    assert_close(weights_of(student)["head.bias"], expected)


def test_labels_are_counted_before_the_first_round(
    method: CBAFed, tiny_clients: list[Client]
) -> None:
    infos = [client.info for client in tiny_clients]
    weights = method.setup.model.build(0).state_dict()
    state = method.init(weights, infos)
    tasks = method.plan(state)
    assert [task.client for task in tasks] == [0, 2]  # those with labels
    updates = [method.train(t, tiny_clients[t.client], {})[0] for t in tasks]
    state = method.aggregate(state, updates)
    assert state.round == 0
    assert int(state.class_count.sum()) == 29
    assert {t.client for t in method.plan(state)} == {0, 1, 2, 3, 4}
    assert torch.equal(state.weights["head.bias"], weights["head.bias"])


def test_nobody_misses_pseudo_labels_while_labels_are_counted(
    method: CBAFed, tiny_clients: list[Client]
) -> None:
    infos = [client.info for client in tiny_clients]
    assert tiny_clients[2].num_labeled and tiny_clients[2].num_unlabeled
    state = method.init(method.setup.model.build(0).state_dict(), infos)
    tasks = method.plan(state)
    updates = [method.train(t, tiny_clients[t.client], {})[0] for t in tasks]
    gate = Gate(Guard(enabled=True), method.statistics, pseudo_labels=True)
    found = gate.check(tasks, updates, infos, GateState())
    assert not found.notices and not found.dropped


def test_pseudo_labels_stay_in_the_memory_and_their_counts_are_sent(
    method: CBAFed, tiny_clients: list[Client], play: Callable[..., Any]
) -> None:
    _, updates, memories = play(method, tiny_clients)
    update = next(u for u in updates if u.client == 1)
    kept = memories[1][PSEUDO_LABEL]
    assert len(kept) == 18
    assert int((kept >= 0).sum()) == update.num_pseudo > 0
    counted = kept[kept >= 0].long().bincount(minlength=3)
    assert update.statistics[CLASS_COUNT].tolist() == counted.tolist()
    assert update.num_unlabeled == 18


def test_clients_that_choose_nothing_leave_the_model_as_it_is(
    tiny_setup: Setup, make_client: Callable[..., Client], play: Callable[..., Any]
) -> None:
    method = CBAFed(tiny_setup, base=1.0, cap=1.0, rare_below=0.0, labeled_epochs=1)
    clients = [make_client(0, 12, 0), make_client(1, 0, 12)]
    state, updates, _ = play(method, clients, rounds=1)
    silent = updates[-1]
    assert (silent.client, silent.num_pseudo) == (1, 0)
    assert not silent.statistics[CLASS_COUNT].any()
    assert torch.equal(
        silent.weights["head.weight"], tiny_setup.model.build(0).head.weight
    )
    assert state.contributions == {0: 1.0, 1: 0.0}


def test_views_are_drawn_once(
    method: CBAFed, tiny_clients: list[Client], monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn: list[int] = []
    views = type(method.setup.views)
    weak = views.weak

    def counted(self: Any, images: Any, generator: Any) -> Any:
        drawn.append(len(images))
        return weak(self, images, generator)

    monkeypatch.setattr(views, "weak", counted)
    setup = replace(method.setup, local=LocalTraining(batch_size=8, epochs=3))
    method = replace(method, setup=setup)
    weights = setup.model.build(0).state_dict()
    state = replace(
        method.init(weights, [c.info for c in tiny_clients]),
        class_count=torch.ones(3),
    )
    task = next(t for t in method.plan(state) if t.client == 1)
    method.train(task, tiny_clients[1], {})
    assert sum(drawn) == 18  # three epochs later, still one view of each image


def test_odd_federation_gives_finite_weights(
    method: CBAFed, tiny_clients: list[Client], play: Callable[..., Any]
) -> None:
    state, _, _ = play(method, tiny_clients, rounds=2)
    assert all(v.isfinite().all() for v in state.weights.values())
    assert sum(state.contributions.values()) == pytest.approx(1)


def test_bits_do_not_depend_on_the_number_of_workers(
    method: CBAFed, tiny_clients: list[Client], play: Callable[..., Any]
) -> None:
    one, _, _ = play(method, tiny_clients, workers=1)
    two, _, _ = play(method, tiny_clients, workers=2)
    assert all(torch.equal(one.weights[k], two.weights[k]) for k in one.weights)
    assert torch.equal(one.class_count, two.class_count)


def test_a_federation_without_labels_is_refused(tiny_setup: Setup) -> None:
    with pytest.raises(ProtocolError, match="FS2121 cbafed needs a client with labels"):
        CBAFed(tiny_setup).init({}, [ClientInfo(0, 0, 5)])
