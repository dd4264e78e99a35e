"""CBAFed's warm-up: which models are mixed, and when."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

from fedsemi.data.client import Client
from fedsemi.errors import ProtocolError
from fedsemi.local import Setup
from fedsemi.messages import ClientInfo, Update
from fedsemi.methods.cbafed_warmup import CBAFedWarmup


def test_model_is_mixed_with_the_first_and_then_with_the_last_mix(
    tiny_setup: Setup,
) -> None:
    method = CBAFedWarmup(tiny_setup)
    state = method.init({"x": torch.zeros(1)}, [ClientInfo(0, 10, 0)])
    seen = []
    for round in range(11):
        learned = {"x": torch.tensor([float(round)])}
        state = method.aggregate(state, [Update(0, round, learned, 10, 0)])
        seen.append(float(state.weights["x"]))
    # round 5: .8 · 0 + .2 · 5 = 1; round 10: .8 · 1 + .2 · 10 = 2.8
    assert seen == pytest.approx([0, 1, 2, 3, 4, 1, 6, 7, 8, 9, 2.8])


def test_only_labels_are_learned_from(
    tiny_setup: Setup, tiny_clients: list[Client], play: Callable[..., Any]
) -> None:
    state, updates, _ = play(CBAFedWarmup(tiny_setup), tiny_clients)
    assert [(u.client, u.num_labeled, u.num_unlabeled) for u in updates] == [
        (0, 20, 0),
        (2, 9, 0),
    ]
    assert state.contributions == pytest.approx({0: 20 / 29, 2: 9 / 29})


def test_a_federation_without_labels_is_refused(tiny_setup: Setup) -> None:
    with pytest.raises(ProtocolError, match="cbafed-warmup needs a client with labels"):
        CBAFedWarmup(tiny_setup).init({}, [ClientInfo(0, 0, 5)])
