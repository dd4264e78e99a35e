"""Which answers of a site cost it something, and which are those of before."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

pytest.importorskip("flwr")

from fedsemi.config.experiment import make_experiment
from fedsemi.data.site import Site, read_site, write_site
from fedsemi.deployment.certificates import PEERS, new_site_key
from fedsemi.deployment.site import journal
from fedsemi.deployment.site.agreement import Agreement
from fedsemi.deployment.site.ledger import LEDGER
from fedsemi.deployment.site.policy import POLICY
from fedsemi.objectives.diversity import Anchors
from fedsemi.privacy.at_site import bound_of
from fedsemi.privacy.letters import Begin
from fedsemi.privacy.steps import LETTER, as_tensor
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


def faint(weights, by):
    """Shrink the head, so that a model says nearly the same of all images."""
    return {k: v * by if k.startswith("head.") else v for k, v in weights.items()}


def masked_site(tmp_path, **privacy):
    """Return a plan, the folder of a site, and what asks the site about a model."""
    content = {**MASKED, "local": {"batch_size": 2}, "privacy": privacy}
    plan = build(make_experiment(content))
    client = plan.federation.clients[0]
    folder = write_site(tmp_path / "masked", Site(client, plan.class_names))
    new_site_key(folder)

    def ask(weights, attempt=0):
        begin = {LETTER: as_tensor(Begin(nonce=bytes([attempt]) * 32))}
        fair = order(plan, weights, client=0)
        task = replace(fair.task, broadcast=begin)
        return refusal(asked(plan, folder, replace(fair, task=task, sites=4)))

    return plan, folder, ask


def test_a_model_that_is_refused_for_the_images_is_charged_and_counted(noisy, folder):
    """One refusal after the other would tell how the images spread."""
    weights = noisy.initial_weights()
    said = [
        refusal(asked(noisy, folder, order(noisy, faint(weights, by), client=0)))[:6]
        for by in (1e-3, 1e-3, 2e-3, 3e-3, 4e-3, 5e-3, 6e-3)
    ]
    assert said == ["FS2135"] * 5 + ["FS2136"] * 2
    assert charges(folder) == [0.25] * 4


def test_a_spent_budget_ends_what_refusals_tell_of_the_images(noisy, folder):
    """ε is 1.99 after one answer, and would be 2.92 after two."""
    policy = '[budget]\nepsilon = 2.5\nagainst = "public"\n'
    (folder / POLICY).write_text(policy)
    weights = noisy.initial_weights()
    said = [
        refusal(asked(noisy, folder, order(noisy, faint(weights, by), client=0)))[:6]
        for by in (1e-3, 2e-3)
    ]
    assert said == ["FS2135", "FS6103"]


def test_under_masks_three_models_of_a_round_are_looked_at(tmp_path):
    """Its later steps bring none, and so leave no room for more."""
    plan, folder, ask = masked_site(tmp_path, masked=True)
    weights = plan.initial_weights()
    said = [ask(faint(weights, by))[:6] for by in (1e-3, 2e-3, 3e-3, 4e-3, 5e-3)]
    assert said == ["FS2135"] * 3 + ["FS2136"] * 2
    (noted,) = folder.glob("memory/*/asked.txt")
    assert len(noted.read_text().splitlines()) == 3
    assert ask(faint(weights, 1e-3), attempt=1).startswith("FS2135")


def test_under_masks_and_noise_no_refusal_tells_of_the_images(tmp_path):
    noise = {"noise_multiplier": 2.0, "clip": 0.1}
    plan, folder, ask = masked_site(tmp_path, masked=True, **noise)
    (folder / POLICY).write_text("[answers]\nmasked_only = true\n")
    (folder / PEERS).mkdir()
    assert ask(faint(plan.initial_weights(), 1e-3)) == ""
    assert charges(folder) == [0.25]
