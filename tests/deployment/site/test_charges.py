"""Which answers of a site cost it something, and which are those of before."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

pytest.importorskip("flwr")

from fedsemi.config.experiment import make_experiment
from fedsemi.data.site import Site, read_site, write_site
from fedsemi.deployment.site import journal
from fedsemi.deployment.site.agreement import Agreement
from fedsemi.deployment.site.ledger import LEDGER
from fedsemi.objectives.diversity import Anchors
from fedsemi.privacy.at_site import bound_of
from fedsemi.privacy.steps import LETTER
from fedsemi.seeds import seed_of
from fedsemi.simulation.build import build
from fedsemi.weights import digest

from ...look_alikes import look_alikes
from ..attacker import asked, order, real_desk, refusal
from ..conftest import tiny

NOISE = {"noise_multiplier": 2.0, "statistics_noise": 4.0, "clip": 0.1}
MASKED = {
    "data": {"name": "synthetic", "train_limit": 160},
    "partition": {"num_clients": 4, "scheme": "iid"},
    "model": {"name": "resnet8", "width": 4},
    "privacy": {**NOISE, "masked": True},
    "stages": [{"method": "uniform-semi", "rounds": 1}],
}


@pytest.fixture(scope="module")
def honest():
    return tiny(local={"batch_size": 2})


@pytest.fixture(scope="module")
def noisy():
    return tiny(local={"batch_size": 2}, privacy=NOISE, guard={"enabled": False})


@pytest.fixture
def folder(tmp_path, honest):
    client = honest.federation.clients[0]
    return write_site(tmp_path / "site-0", Site(client, honest.class_names))


def charges(folder) -> list[float | None]:
    return [entry["cost"] for entry in journal.read(folder / LEDGER)]


def test_of_a_plan_without_noise_the_ledger_has_one_line(honest, folder):
    weights = honest.initial_weights()
    for moved in (weights, {k: v * 1.01 for k, v in weights.items()}):
        asked(honest, folder, order(honest, moved, client=0))
    assert charges(folder) == [None]


def test_the_same_question_is_free_only_where_it_has_the_same_answer(noisy, folder):
    """On a GPU bits differ; and so do answers that go on from another memory."""
    desk = real_desk(noisy, folder)
    question, memory = order(noisy, noisy.initial_weights(), 0), {"a": torch.ones(1)}
    for _ in range(3):
        desk.agreement.count(question, memory, "cpu")
    assert len(charges(folder)) == 1
    desk.agreement.count(question, {"a": torch.zeros(1)}, "cpu")
    assert len(charges(folder)) == 2
    for _ in range(3):
        desk.agreement.count(question, memory, "cuda")
    assert len(charges(folder)) == 5


def test_another_attempt_at_a_masked_round_is_free(folder):
    """The letters of two attempts differ; the sum is opened once, on a GPU as well."""
    plan = build(make_experiment(MASKED))
    agreement = Agreement(folder, plan, read_site(folder))
    question = order(plan, plan.initial_weights(), 0)
    for attempt in range(2):
        letter = {LETTER: torch.full((3,), attempt)}
        task = replace(question.task, broadcast=letter)
        agreement.count(replace(question, task=task), {}, "cuda")
    assert len(charges(folder)) == 1
    task = replace(question.task, broadcast={**letter, "other": torch.ones(1)})
    agreement.count(replace(question, task=task), {}, "cuda")
    assert len(charges(folder)) == 2


def test_two_broadcasts_made_to_look_alike_are_two_questions(noisy, folder):
    """Else r could be asked for with two anchors, at the price of one."""
    anchors = [Anchors(noisy.model, seed, 1).announcement() for seed in (0, 5)]
    alike = look_alikes(*anchors)
    assert digest(alike[0]) == digest(alike[1])
    assert bound_of({}, alike[0]) != bound_of({}, alike[1])
    question, agreement = order(noisy, {}, 0), real_desk(noisy, folder).agreement
    for told in alike:
        task = replace(question.task, broadcast=told)
        agreement.count(replace(question, task=task), {}, "cpu")
    assert len(charges(folder)) == 2


def test_a_task_that_brings_what_its_method_does_not_announce_is_refused(noisy, folder):
    fair = order(noisy, noisy.initial_weights(), client=0)
    seed = seed_of(seed_of(noisy.experiment.seed, "stage", 1), "task", 0, 0, 0)
    announced = Anchors(noisy.model, 0, 1).announcement()
    for extra in ("!", LETTER, "prior"):
        told = {**announced, extra: torch.ones(1)}
        task = replace(fair.task, broadcast=told, seed=seed)
        said = refusal(asked(noisy, folder, replace(fair, task=task, stage=1)))
        assert said == (
            f"FS2134 a task brings '{extra}', which the plan's method does not announce"
        )
    assert charges(folder) == []
    task = replace(fair.task, broadcast=announced, seed=seed)
    assert not refusal(asked(noisy, folder, replace(fair, task=task, stage=1)))
