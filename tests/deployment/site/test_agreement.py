"""A site has a say: the attack on its class counts, and all that stops it."""

from __future__ import annotations

import json
import logging
import stat
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
import torch

pytest.importorskip("flwr")

from fedsemi import models
from fedsemi.config.blueprint import Blueprint
from fedsemi.config.experiment import make_experiment
from fedsemi.data.site import Site, read_site, write_site
from fedsemi.deployment.codec import Order, decode_update
from fedsemi.deployment.coordinator.roster import Roster
from fedsemi.deployment.one_machine.loopback import LoopbackGrid
from fedsemi.deployment.one_machine.simulate import run_on_grid
from fedsemi.deployment.site.agreement import AGREED, Agreement
from fedsemi.deployment.site.client_app import client_app
from fedsemi.deployment.site.desk import Desk
from fedsemi.deployment.site.memory_store import MemoryStore
from fedsemi.errors import ProtocolError
from fedsemi.seeds import seed_of
from fedsemi.server.stages import Judge
from fedsemi.simulation.run import run_simulation
from fedsemi.weights import digest

from ..attacker import asked, blinded, counts_from, order, real_desk, refusal
from ..conftest import tiny

_LR = 0.03


def digits(**local):
    """Digits at three sites, of which site 0 has labels."""
    data = {"name": "digits", "train_limit": 300, "test_limit": 8, "image_size": 8}
    local = {"batch_size": 16, "lr_labeled": _LR, **local}
    return tiny(data=data | {"pre_size": 10}, local=local)


@pytest.fixture(scope="module")
def honest():
    return digits()


@pytest.fixture(scope="module")
def greedy():
    """A plan of one full batch without momentum."""
    return digits(batch_size=300, momentum=0.0)


@pytest.fixture
def folder(tmp_path, honest):
    """The folder of the labeled site, which nobody has told a plan yet."""
    client = honest.federation.clients[0]
    return write_site(tmp_path / "site-0", Site(client, honest.class_names))


def test_without_a_say_a_site_gives_its_class_counts_away(greedy, folder, tmp_path):
    """The attack works on a site that takes every plan and all weights."""
    site, weights = read_site(folder), blinded(greedy.initial_weights())
    desk = Desk(greedy, site, MemoryStore(tmp_path / "memory"))
    update = desk.carry_out(order(greedy, weights, client=0))
    truth = site.client.labels.bincount(minlength=10)
    assert len(truth.unique()) > 3
    assert (counts_from(update, weights, _LR) - truth).abs().max() < 1e-3


def test_a_plan_of_one_full_batch_is_refused(greedy, folder):
    weights = blinded(greedy.initial_weights())
    said = refusal(asked(greedy, folder, order(greedy, weights, client=0)))
    assert said.startswith("FS2130 this site does not agree to the plan")
    assert "batch_size = 300" in said and "--beyond-bounds" in said
    assert not (folder / AGREED).exists()
    assert not (folder / "memory").exists()


def test_a_refused_coordinator_does_not_learn_how_many_images_there_are(greedy, folder):
    said = refusal(asked(greedy, folder, order(greedy, {}, client=0)))
    assert str(read_site(folder).client.num_labeled) not in said


def _dead(weights):
    """Let all batch norms say the same of every image."""
    norms = [k for k, v in weights.items() if v.ndim == 1 and k.startswith("encoder.")]
    learned = [k for k in norms if "running" not in k]
    return {k: v * 0 if k in learned else v for k, v in weights.items()}


def _faint(weights):
    return {k: v * 1e-3 if k.startswith("head.") else v for k, v in weights.items()}


def _alike(weights):
    """Give all classes the same logit, which varies."""
    row = weights["head.weight"][:1]
    return {**weights, "head.weight": row.expand_as(weights["head.weight"]).clone()}


@pytest.mark.parametrize("made", [blinded, _dead, _faint, _alike])
def test_a_model_that_sees_nothing_in_images_is_refused(honest, folder, made):
    weights = made(dict(honest.initial_weights()))
    said = refusal(asked(honest, folder, order(honest, weights, client=0)))
    assert said.startswith("FS2135 the model says nearly the same of all images")


def _with(name, change):
    def made(weights):
        return {**weights, name: change(weights[name])}

    return made


@pytest.mark.parametrize(
    "made",
    [
        _with("head.bias", lambda v: v * float("nan")),
        _with("head.bias", lambda v: v + float("inf")),
        _with("head.weight", lambda v: v * 1e9),
        _with("head.weight", lambda v: v[:, :1]),
        _with("head.weight", lambda v: v.double()),
        lambda weights: {k: v for k, v in weights.items() if k != "head.bias"},
    ],
)
def test_weights_that_are_not_the_plans_are_refused(honest, folder, made):
    weights = made(dict(honest.initial_weights()))
    said = refusal(asked(honest, folder, order(honest, weights, client=0)))
    assert said.startswith("FS2134 'head.")


def test_what_is_sent_beside_the_weights_is_bounded_too(honest, folder):
    fair = order(honest, honest.initial_weights(), client=0)
    task = replace(fair.task, broadcast={"prior": torch.tensor([float("nan")])})
    said = refusal(asked(honest, folder, replace(fair, task=task)))
    assert said.startswith("FS2134 'prior' is not finite")


@pytest.mark.parametrize(
    "change", [{"round": 1}, {"round": -1}, {"seed": 7}, {"group": 1}]
)
def test_a_task_that_is_not_in_the_plan_is_refused(honest, folder, change):
    fair = order(honest, honest.initial_weights(), client=0)
    odd = replace(fair, task=replace(fair.task, **change))
    assert refusal(asked(honest, folder, odd)).startswith("FS2133")
    beyond = replace(fair, stage=2)
    assert refusal(asked(honest, folder, beyond)).startswith(
        "FS2133 round 1 of stage 3"
    )


@pytest.mark.parametrize("group", [-1, 2, 10**9])
def test_a_coordinator_cannot_choose_a_seed_by_the_number_of_a_group(
    honest, folder, group
):
    fair = order(honest, honest.initial_weights(), client=0)
    stage = seed_of(honest.experiment.seed, "stage", fair.stage)
    seed = seed_of(stage, "task", fair.task.round, fair.task.client, group)
    odd = replace(fair, task=replace(fair.task, group=group, seed=seed))
    assert refusal(asked(honest, folder, odd)).startswith(f"FS2133 group {group} ")


def test_a_site_agrees_to_its_first_plan_and_to_no_other(honest, folder, caplog):
    fair = order(honest, honest.initial_weights(), client=0)
    with caplog.at_level(logging.WARNING):
        assert not refusal(asked(honest, folder, fair))
    assert "agreed to plan" in caplog.text and "rounds of semianagg" in caplog.text
    assert "sends the model, counts, diversity" in caplog.text
    assert stat.S_IMODE((folder / AGREED).stat().st_mode) == 0o600
    agreed = json.loads((folder / AGREED).read_text())
    assert agreed["plan_sha256"] == honest.sha256
    assert agreed["stages"][1]["statistics"] == ["diversity"]

    other = digits(lr_labeled=0.02)
    said = refusal(asked(other, folder, order(other, other.initial_weights(), 0)))
    assert said.startswith(f"FS2131 this site has agreed to plan {honest.sha256[:12]}")
    assert "fedsemi agree FOLDER plan.json" in said
    assert str(folder) not in said
    assert not refusal(asked(honest, folder, fair))


def test_an_owner_who_agrees_to_another_plan_is_followed(honest, folder):
    other = digits(lr_labeled=0.02)
    for plan in (honest, other):
        Agreement(folder, plan, read_site(folder)).agree("a test")
        fair = order(plan, plan.initial_weights(), client=0)
        assert not refusal(asked(plan, folder, fair))


def test_an_owner_may_go_beyond_the_bounds_but_only_on_purpose(greedy, folder):
    agreement = Agreement(folder, greedy, read_site(folder))
    with pytest.raises(ProtocolError, match="FS2130"):
        agreement.agree("a test")
    agreement.agree("a test", beyond_bounds=True)
    real_desk(greedy, folder)


def test_an_agreement_that_cannot_be_read_is_not_made_anew(honest, folder):
    for spoiled in (b"", b"[" * 10_000, b"\xff", b'{"plan_sha256": 1}', b"{}"):
        (folder / AGREED).write_bytes(spoiled)
        with pytest.raises(
            ProtocolError, match=r"FS2132 agreed\.json .*cannot be read"
        ):
            real_desk(honest, folder)
        assert (folder / AGREED).read_bytes() == spoiled


def test_statistics_that_a_new_release_adds_need_a_new_agreement(honest, folder):
    real_desk(honest, folder)
    agreed = json.loads((folder / AGREED).read_text())
    agreed["stages"][1]["statistics"] = []  # an older release sent no diversities
    (folder / AGREED).write_text(json.dumps(agreed))
    with pytest.raises(ProtocolError, match="FS2132 what the plan's methods send"):
        real_desk(honest, folder)


def test_a_plan_for_other_classes_is_refused(honest, tmp_path):
    site = Site(honest.federation.clients[0], tuple("abcdefghij"))
    with pytest.raises(ProtocolError, match=r"FS2130 .*classes are not the site's"):
        real_desk(honest, write_site(tmp_path / "site", site))


def _moved(weights, by):
    return {k: v + by if k == "head.bias" else v for k, v in weights.items()}


def test_a_round_is_answered_only_so_often_with_other_weights(honest, folder):
    weights = honest.initial_weights()
    orders = [order(honest, _moved(weights, i / 100), client=0) for i in range(5)]
    said = [refusal(asked(honest, folder, each)) for each in orders]
    assert said[:4] == [""] * 4
    assert said[4].startswith("FS2136 round 1 of stage 1 was asked 4 times")
    # What was asked before is answered again, with the same bits.
    again = [decode_update(asked(honest, folder, orders[0])) for _ in range(2)]
    assert digest(again[0].weights) == digest(again[1].weights)


def test_asking_all_at_once_is_not_asking_more_often(honest, folder):
    agreement = Agreement(folder, honest, read_site(folder))
    weights = honest.initial_weights()
    tasks = [order(honest, _moved(weights, i / 100), 0).task for i in range(8)]

    def admitted(task):
        try:
            agreement.admit(Order(task, 0, 0, 3))
            agreement.count(Order(task, 0, 0, 3), {}, "cpu")
        except ProtocolError as error:
            return error.code
        return "admitted"

    with ThreadPoolExecutor(8) as pool:
        said = sorted(pool.map(admitted, tasks))
    assert said == ["FS2136"] * 4 + ["admitted"] * 4


def _plan_with(honest, path, value):
    content = honest.experiment.model_dump(mode="json")
    place = content
    *parents, last = path
    for name in parents:
        place = place[name]
    place[last] = value
    width = content["model"]["width"]
    model = replace(honest.model, width=width)
    return Blueprint(make_experiment(content), model, honest.views, honest.class_names)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("stages", 0, "rounds"), 10**12),
        (("stages", 0, "rounds"), 10**400),
        (("model", "width"), 10**7),
        (("model", "width"), 10**12),
    ],
)
def test_a_plan_without_end_is_refused_before_anything_is_built(
    honest, folder, monkeypatch, path, value
):
    plan = _plan_with(honest, path, value)

    def built(spec):
        raise AssertionError(f"{spec} was built")

    weights = honest.initial_weights()
    monkeypatch.setattr(models, "_made", built)
    said = refusal(asked(plan, folder, order(plan, weights, client=0)))
    assert said.startswith("FS2130 this site does not agree to the plan: ")


_SLOW = [
    pytest.param(method, marks=pytest.mark.slow)
    for method in ("cbafed", "rscfed", "isofed", "fedirm", "ssil-cdm")
]


@pytest.mark.parametrize("method", ["semianagg", *_SLOW])
def test_honest_training_is_within_the_bounds_and_keeps_its_bits(method, tmp_path):
    simulation = tiny(method, rounds=1, local={"batch_size": 2})
    folders = [
        write_site(tmp_path / f"site-{i}", Site(client, simulation.class_names))
        for i, client in enumerate(simulation.federation.clients)
    ]

    def desk_of(context):
        return real_desk(simulation, folders[int(context.node_config["partition-id"])])

    grid = LoopbackGrid(client_app(desk_of), 3)
    roster = Roster(grid, simulation)
    roster.wait_for(3, 10)
    *_, there = run_on_grid(grid, simulation, Judge(), roster)
    *_, here = run_simulation(simulation)
    assert digest(here.weights) == digest(there.weights)
    assert all((folder / AGREED).exists() for folder in folders)
