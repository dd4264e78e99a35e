"""A federation so small that every method runs on it in a second."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from fedsemi.data.client import Client
from fedsemi.engines import local_engine
from fedsemi.messages import Memory, Update, Weights
from fedsemi.server.rounds import run


@pytest.fixture
def tiny_clients(make_client: Callable[[int, int, int], Client]) -> list[Client]:
    """Labeled, unlabeled, partially labeled, one lone sample, and nothing at all."""
    sizes = [(20, 0), (0, 18), (9, 12), (0, 1), (0, 0)]
    return [make_client(id, *size) for id, size in enumerate(sizes)]


@pytest.fixture
def play() -> Callable[..., Any]:
    """Run some rounds of a method; return its state, updates and memories."""

    def play(
        method: Any, clients: list[Client], rounds: int = 2, workers: int = 1
    ) -> tuple[Any, list[Update], Mapping[int, Memory]]:
        with local_engine(method, clients, workers) as engine:
            weights: Weights = method.setup.model.build(0).state_dict()
            state = method.init(weights, engine.clients(), 7)
            updates: list[Update] = []
            for done in run(method, engine, state, rounds):
                state, updates = done.state, list(done.updates)
            memories = {
                c.id: {k: v.clone() for k, v in engine.memory(c.id).items()}
                for c in clients
                if state.round
            }
        return state, updates, memories

    return play
