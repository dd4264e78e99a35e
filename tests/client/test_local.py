from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
import torch

from fedsemi.client.learners import PseudoLabeling
from fedsemi.client.local import answer, momentum_of, sgd
from fedsemi.data.client import Client
from fedsemi.messages import PSEUDO_LABEL, Memory, Task, Update
from fedsemi.objectives.supervised import Supervised
from fedsemi.objectives.workbench import LocalTraining, Setup, StatisticsNoise
from fedsemi.weights import weights_of

Make = Callable[..., Client]


def visit(
    setup: Setup, client: Client, memory: Memory | None = None, round: int = 0
) -> tuple[Update, Memory]:
    weights = weights_of(setup.model.build(0))
    task = Task(client.id, round, weights, seed=round)
    learner = PseudoLabeling(cutoff=0.3)
    return answer(task, client, memory or {}, setup, learner.objective)


def pseudo_labels(memory: Memory) -> torch.Tensor:
    return next(memory[name] for name in memory if name.endswith(PSEUDO_LABEL))


def test_the_update_carries_counts_and_learned_weights(
    setup: Setup, make_client: Make
) -> None:
    update, _ = visit(setup, make_client(2, labeled=6, unlabeled=20))
    assert (update.client, update.num_labeled, update.num_unlabeled) == (2, 6, 20)
    assert 0 < update.num_pseudo <= 20
    before = setup.model.build(0).state_dict()
    assert not torch.equal(update.weights["head.weight"], before["head.weight"])


def test_the_head_has_no_weight_decay_and_the_encoder_has(
    setup: Setup, make_client: Make
) -> None:
    student = setup.model.build(0)
    optimizer = sgd(student, make_client(labeled=4), setup.local, {})
    encoder, head = optimizer.param_groups
    assert (encoder["weight_decay"], head["weight_decay"]) == (5e-4, 0.0)
    assert len(head["params"]) == 2


@pytest.mark.parametrize(
    ("labeled", "unlabeled", "rate"), [(4, 0, 0.03), (4, 4, 0.03), (0, 4, 0.02)]
)
def test_clients_without_labels_learn_at_their_own_rate(
    setup: Setup, make_client: Make, labeled: int, unlabeled: int, rate: float
) -> None:
    client = make_client(0, labeled, unlabeled)
    optimizer = sgd(setup.model.build(0), client, setup.local, {})
    assert {group["lr"] for group in optimizer.param_groups} == {rate}


def test_momentum_lives_on_in_the_clients_memory(
    setup: Setup, make_client: Make
) -> None:
    client = make_client(0, labeled=16)
    _, memory = visit(setup, client)
    student = setup.model.build(0)
    optimizer = sgd(student, client, setup.local, memory)
    kept = momentum_of(student, optimizer)
    assert kept.keys() == {k for k in memory if k.startswith("momentum.")}
    assert all(torch.equal(kept[key], memory[key]) for key in kept)


def test_momentum_can_be_forgotten(setup: Setup, make_client: Make) -> None:
    forgetful = replace(setup, local=LocalTraining(batch_size=8, keep_momentum=False))
    _, memory = visit(forgetful, make_client(0, labeled=16))
    assert not any(key.startswith("momentum.") for key in memory)


def test_nesterov_looks_ahead_along_the_momentum(
    setup: Setup, make_client: Make
) -> None:
    # Gradient 1, rate 0.1, momentum 0.9, no decay on a head: 0.1 · (1 + 0.9) at first.
    client = make_client(0, labeled=16)
    for nesterov, momentum, step in (
        (True, 0.9, 0.19),
        (False, 0.9, 0.1),
        (True, 0, 0.1),
    ):
        local = LocalTraining(lr_labeled=0.1, momentum=momentum, nesterov=nesterov)
        student = setup.load(setup.model.build(0).state_dict())
        before = student.head.bias.detach().clone()
        optimizer = sgd(student, client, local, {})
        student.head.bias.sum().backward()
        optimizer.step()
        assert (before - student.head.bias).tolist() == pytest.approx(
            [step] * len(before)
        )


def test_the_second_visit_goes_on_from_the_memory(
    setup: Setup, make_client: Make
) -> None:
    client = make_client(0, unlabeled=16)
    _, memory = visit(setup, client)
    with_memory, _ = visit(setup, client, memory, round=1)
    without, _ = visit(setup, client, round=1)
    key = "head.weight"
    assert not torch.equal(with_memory.weights[key], without.weights[key])


def test_the_same_task_gives_the_same_bits(setup: Setup, make_client: Make) -> None:
    client = make_client(0, labeled=5, unlabeled=16)
    a, b = (visit(setup, client)[0] for _ in range(2))
    assert all(torch.equal(a.weights[key], b.weights[key]) for key in a.weights)


@pytest.mark.parametrize(("labeled", "unlabeled"), [(0, 0), (1, 0), (0, 1), (1, 1)])
def test_a_client_too_small_to_learn_returns_the_global_model(
    setup: Setup, make_client: Make, labeled: int, unlabeled: int
) -> None:
    update, _ = visit(setup, make_client(0, labeled, unlabeled))
    before = weights_of(setup.model.build(0))
    assert all(torch.equal(update.weights[key], before[key]) for key in before)
    assert update.metrics["loss"] == 0.0


def test_a_client_of_one_unlabeled_sample_still_labels_it(
    setup: Setup, make_client: Make
) -> None:
    weights = weights_of(setup.model.build(0))
    learner = PseudoLabeling(cutoff=0.0)
    update, memory = answer(
        Task(0, 0, weights), make_client(0, unlabeled=1), {}, setup, learner.objective
    )
    assert update.num_pseudo == 1
    assert len(pseudo_labels(memory)) == 1


@pytest.mark.parametrize("size", [2, 7, 8, 9, 16, 17])
def test_any_number_of_samples_trains_to_finite_weights(
    setup: Setup, make_client: Make, size: int
) -> None:
    update, memory = visit(setup, make_client(0, unlabeled=size))
    assert all(torch.isfinite(value).all() for value in update.weights.values())
    assert len(pseudo_labels(memory)) == size


def test_a_client_of_a_single_class_learns(setup: Setup, make_client: Make) -> None:
    client = make_client(0, labeled=16)
    single = replace(client, labels=torch.zeros(16, dtype=torch.long))
    adjusted = LocalTraining(batch_size=8, loss="balanced-softmax")
    task = Task(0, 0, weights_of(setup.model.build(0)))
    update, _ = answer(task, single, {}, replace(setup, local=adjusted), Supervised)
    assert all(torch.isfinite(value).all() for value in update.weights.values())


def test_only_the_encoder_of_unlabeled_batches_is_clipped(
    setup: Setup, make_client: Make
) -> None:
    def change(client: Client, clip: str, part: str) -> float:
        local = LocalTraining(batch_size=64, clip=clip, clip_norm=1e-9)  # type: ignore[arg-type]
        start = weights_of(setup.model.build(0))
        task = Task(0, 0, start)
        make = PseudoLabeling(cutoff=0.0, selection="fixmatch").objective
        update, _ = answer(task, client, {}, replace(setup, local=local), make)
        key = {"encoder": "encoder.stem.0.weight", "head": "head.weight"}[part]
        # Weight decay moves the encoder a little even when its gradient is clipped.
        return float((update.weights[key] - start[key]).abs().max())

    unlabeled, labeled = make_client(0, unlabeled=16), make_client(0, labeled=16)
    assert change(unlabeled, "unlabeled-encoder", "encoder") < 1e-4
    assert change(unlabeled, "unlabeled-encoder", "head") > 1e-3
    assert change(labeled, "unlabeled-encoder", "encoder") > 1e-3
    assert change(labeled, "all", "head") < 1e-4


def test_noise_is_on_statistics_before_they_leave_and_within_their_range() -> None:
    """Of a vector of norm 2, cut to 1: 400 tasks show the deviation 0.5 around it."""
    noise = StatisticsNoise(0.5, clip=1.0)
    sent = {"diversity": torch.tensor([0.0, 0.0, 2.0])}
    tasks = [Task(0, 0, {}, seed=seed) for seed in range(400)]
    found = torch.stack([noise.added(sent, 1e9, t)["diversity"] for t in tasks])
    assert found[:, 2].mean() == pytest.approx(1.0, abs=0.1)
    assert found[:, 2].std() == pytest.approx(0.5, abs=0.06)
    assert (found[:, 0] == 0).double().mean() == pytest.approx(0.5, abs=0.1)
    assert noise.added(sent, 1.0, tasks[0])["diversity"].max() <= 1.0


def test_the_noise_of_a_real_site_is_not_the_seeds() -> None:
    sent = {"diversity": torch.ones(64)}
    task = Task(0, 0, {}, seed=3)
    by_seed = StatisticsNoise(0.1, 100.0).added(sent, 9.0, task)["diversity"]
    secret = StatisticsNoise(0.1, 100.0, b"secret").added(sent, 9.0, task)["diversity"]
    again = StatisticsNoise(0.1, 100.0, b"secret").added(sent, 9.0, task)["diversity"]
    assert torch.equal(secret, again) and not torch.equal(secret, by_seed)
