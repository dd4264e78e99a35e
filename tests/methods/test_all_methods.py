"""What every method must do, whatever else it does."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import torch
from safetensors.torch import save_file
from tests.methods.small import SMALL

from fedsemi.client.wire import check_declared
from fedsemi.data.client import Client
from fedsemi.method import Method
from fedsemi.methods import METHODS
from fedsemi.models.encoders import EncoderSpec
from fedsemi.objectives.workbench import Setup
from fedsemi.server.gate import Gate
from fedsemi.state import ServerState

OWN_LOSS = {
    "ssil-cdm": "both heads have their own loss",
    "fedrod": "always balanced",
    "fedrod-dual": "always balanced",
    "fedbarlow": "labels only look on",
    "orchestra": "labels only look on",
}
"""Methods that do not read `local.loss`, and why."""
SEES_PIXELS = {"fedbarlow", "orchestra"}
"""Methods that look at nothing but views of their own, which are not kept."""
IN_TURN = {"isofed", "fl2", "semifl"}
"""Methods whose wholly labeled clients learn in a phase of their own."""


def one_round(method: Method[Any], clients: list[Client]) -> ServerState:
    """Play one round; every answer must be declared and must pass the gate."""
    weights = method.setup.model.build(0).state_dict()  # type: ignore[attr-defined]
    state: ServerState = method.init(weights, [client.info for client in clients], 7)
    gate = Gate(statistics=method.statistics)
    by_id = {client.id: client for client in clients}
    while not state.round:
        tasks, updates = method.plan(state), []
        # A site refuses groups that the plan does not hold, and unannounced tensors.
        assert all(task.group < method.questions for task in tasks)
        assert all(task.broadcast.keys() <= method.announces for task in tasks)
        for task in tasks:
            update, _ = method.train(task, by_id[task.client], {})
            check_declared(method, task, update, method.setup.model.num_classes)
            updates.append(update)
        check = gate.check(tasks, updates, state.clients, state.gate)
        assert not check.dropped and check.quorum
        state = method.aggregate(state, check.updates)
    return state


@pytest.mark.parametrize("name", [n for n in METHODS if METHODS[n].labels_only])
def test_those_that_need_labels_only_ask_nobody_else(name, tiny_setup, make_client):
    method = METHODS[name](tiny_setup)
    clients = [make_client(0, 8, 0).info, make_client(1, 0, 8).info]
    state = method.init(tiny_setup.model.build(0).state_dict(), clients)
    assert [task.client for task in method.plan(state)] == [0]


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize(
    "sizes",
    [[(8, 0), (8, 0), (0, 8)], [(4, 6), (4, 6)]],
    ids=["several-labeled", "labeled-fraction"],
)
def test_labels_may_be_anywhere(name, sizes, tiny_setup, make_client):
    clients = [make_client(id, *size) for id, size in enumerate(sizes)]
    state = one_round(METHODS[name](tiny_setup, **SMALL.get(name, {})), clients)
    assert state.round == 1
    assert all(value.isfinite().all() for value in state.whole.values())
    shares = state.contributions
    assert sum(shares.values()) == pytest.approx(1)
    whole = {c.id for c in clients if c.num_labeled and not c.num_unlabeled}
    apart = whole if name in IN_TURN else set()
    for client in clients:
        assert client.id in apart or not client.num_labeled or shares[client.id] > 0


@pytest.mark.parametrize(
    ("name", "settings"),
    [("ssil-cdm", {"prior": "labeled"}), ("semianagg", {"anchors": 2})],
)
def test_what_an_option_adds_is_declared_too(name, settings, tiny_setup, make_client):
    clients = [make_client(0, 8, 0), make_client(1, 0, 8)]
    assert one_round(METHODS[name](tiny_setup, **settings), clients).round == 1


@pytest.mark.parametrize("name", METHODS)
def test_balanced_softmax_reaches_every_loss_on_labels(name, tiny_setup, make_client):
    client = make_client(0, 8, 0)
    rare = torch.tensor([0, 0, 0, 0, 0, 0, 1, 1])
    clients = [replace(client, labels=rare), make_client(1, 0, 4)]

    def head(loss: str) -> torch.Tensor:
        local = replace(tiny_setup.local, loss=loss)
        setup: Setup = replace(tiny_setup, local=local)
        method = METHODS[name](setup, **SMALL.get(name, {}))
        return one_round(method, clients).weights["head.weight"]

    same = torch.equal(head("cross-entropy"), head("balanced-softmax"))
    assert same == (name in OWN_LOSS)


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("blocks", [0, 1, "all"])
def test_a_pretrained_encoder_serves_every_method(
    name, blocks, tiny_setup, make_client, tmp_path
):
    file = tmp_path / "e.safetensors"
    save_file(tiny_setup.model.build(5).encoder.state_dict(), file)
    encoder = EncoderSpec(str(file), trained_blocks=blocks, adapter=4, cached_views=2)
    model = replace(tiny_setup.model, encoder=encoder).located()
    setup = replace(tiny_setup, model=model, features=tmp_path / "features")
    clients = [make_client(0, 8, 0), make_client(1, 4, 6), make_client(2, 0, 8)]
    method = METHODS[name](setup, **SMALL.get(name, {}))
    state = one_round(method, clients)
    assert state.round == 1
    assert all(value.isfinite().all() for value in state.whole.values())
    assert (tmp_path / "features").exists() == (
        blocks != "all" and name not in SEES_PIXELS
    )
    if blocks == 0:  # what is averaged: nothing of the encoder
        assert {key.split(".")[0] for key in state.weights} == {"encoder", "head"}
        sent = [key for key in state.weights if key.startswith("encoder.")]
        assert all(key.startswith("encoder.adapter.") for key in sent)
