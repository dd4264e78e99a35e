"""IN-5, IN-6 and IN-7: sites that are empty, tiny or of a single class."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import torch

from fedsemi.client.evaluate import metrics
from fedsemi.client.learners import PseudoLabeling
from fedsemi.data.client import Client
from fedsemi.engines.in_process import InProcess
from fedsemi.messages import PSEUDO_LABEL
from fedsemi.methods import METHODS
from fedsemi.models import ModelSpec
from fedsemi.objectives.workbench import LocalTraining, Setup
from fedsemi.server.rounds import run

Make = Callable[..., Client]


def after_one_round(method: Any, clients: list[Client]) -> tuple[Any, Any]:
    with InProcess(method, clients) as engine:
        weights = method.setup.model.build(0).state_dict()
        (done,) = run(method, engine, method.init(weights, engine.clients()), 1)
        assert all(v.isfinite().all() for v in done.state.weights.values())
        memories = {client.id: dict(engine.memory(client.id)) for client in clients}
    return done.state, memories


@pytest.mark.parametrize("empty", [1, 2, 3, 4])
def test_empty_sites_take_part_with_weight_zero(
    empty: int, setup: Setup, make_client: Make, promise: Any
) -> None:
    full = [make_client(0, labeled=9, unlabeled=9)]
    full += [make_client(id, unlabeled=9) for id in range(1, 5 - empty)]
    none = [make_client(id) for id in range(5 - empty, 5)]
    failed = 0
    for name in ("semianagg", "fedavg", "supervised"):
        state, _ = after_one_round(METHODS[name](setup), [*full, *none])
        shares = [state.contributions.get(client.id, 0.0) for client in none]
        failed += any(shares)
    promise("IN-5 runs with empty sites, their weight is zero", 3, failed)
    assert failed == 0


@pytest.mark.parametrize("size", [1, 2, 63, 64, 65, 128, 129])
def test_every_sample_counts_whatever_is_left_for_the_last_batch(
    size: int, setup: Setup, make_client: Make, promise: Any
) -> None:
    wide = replace(setup, local=LocalTraining(batch_size=64))
    clients = [make_client(0, labeled=size), make_client(1, unlabeled=size)]
    method = METHODS["semianagg"](wide, learner=PseudoLabeling(cutoff=0.0))
    _, memories = after_one_round(method, clients)
    kept = next(v for k, v in memories[1].items() if k.endswith(PSEUDO_LABEL))
    labeled = int((kept >= 0).sum())
    promise("IN-6 sites of 1 to 129 images, no last batch of one", 1, labeled != size)
    assert labeled == size


@pytest.mark.parametrize("name", ["supervised", "fedavg", "semianagg"])
def test_a_site_of_a_single_class_trains_and_has_no_auc(
    name: str, setup: Setup, make_client: Make, promise: Any
) -> None:
    failed, ten = (
        0,
        replace(setup, model=ModelSpec("resnet8", 10, width=2, image_size=8)),
    )
    for label in range(10):
        client = make_client(0, labeled=6, unlabeled=6)
        single = replace(client, labels=torch.full((6,), label))
        after_one_round(METHODS[name](ten), [single, make_client(1, unlabeled=6)])
        found = metrics(torch.full((6, 10), 0.1), single.labels, 10)
        failed += found.auc is not None or found.accuracy not in (0.0, 1.0)
    promise("IN-7 sites of a single class, AUC null", 10, failed)
    assert failed == 0
