"""A masked federation of real processes over TLS has the bits of the simulation."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fedsemi.config.blueprint import read_blueprint
from fedsemi.config.experiment import make_experiment
from fedsemi.deployment.one_machine.trial import run_trial
from fedsemi.deployment.site import journal
from fedsemi.deployment.site.egress import read_log
from fedsemi.deployment.site.ledger import LEDGER
from fedsemi.engine import WrappedEngine
from fedsemi.engines.in_process import InProcess
from fedsemi.messages import Answer, Task
from fedsemi.noise import secret_of
from fedsemi.server.budget import Course
from fedsemi.server.stages import Judge, run_stages
from fedsemi.simulation.build import Simulation, build
from fedsemi.simulation.run import run_simulation
from fedsemi.storage import read_weights
from fedsemi.weights import digest

from .real import dealt_out, killed, model_sha256, records_of, started, until

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1200)]

CONTENT: dict[str, Any] = {
    "data": {"name": "synthetic", "train_limit": 600},
    "partition": {"num_clients": 4, "scheme": "iid"},
    "model": {"name": "resnet8", "width": 4},
    "privacy": {"masked": True},
    "stages": [{"method": "semianagg", "rounds": 2}],
}
NOISE = {
    "masked": True,
    "noise_multiplier": 2.0,
    "clip": 0.01,
    "statistics_noise": 4.0,
    "budget_epsilon": 3.5,
}
"""Whose budget is for two rounds of three."""


def test_sites_that_sign_and_mask_reach_the_same_model(tmp_path: Path) -> None:
    simulation = build(make_experiment(CONTENT))
    (*_, last) = run_simulation(simulation)
    dealt_out(simulation, tmp_path)
    said: list[str] = []
    run_trial(tmp_path, said.append)
    model = read_weights(tmp_path / "coordinator" / "run" / "model.safetensors")
    assert digest(model) == digest(last.weights), said
    for site in ("site-0", "site-1", "site-2", "site-3"):
        assert len(list((tmp_path / site / "peers").glob("*.pub"))) == 4
        assert list((tmp_path / site).glob("memory/*/sums-000/round-*.json"))


def test_sites_in_groups_reach_the_same_model_and_the_records_say_who_met(
    tmp_path: Path,
) -> None:
    content = {
        **CONTENT,
        "partition": {"num_clients": 6, "scheme": "iid"},
        "privacy": {"masked": True, "groups": 2},
        "guard": {"enabled": True},
    }
    simulation = build(make_experiment(content))
    steps = list(run_simulation(simulation))
    dealt_out(simulation, tmp_path)
    run_trial(tmp_path, lambda _: None)
    assert model_sha256(tmp_path) == digest(steps[-1].weights)
    met = [
        [tuple(group["summed"]) for group in record["groups"]]
        for record in records_of(tmp_path)
    ]
    assert met == [[g.summed for g in step.record.groups] for step in steps]
    assert all(len(group) == 3 for groups in met for group in groups)


def test_a_coordinator_killed_between_the_sums_loses_nothing_and_keeps_the_account(
    tmp_path: Path,
) -> None:
    """With noise and a budget, and sites whose noise is their own secret."""
    rounds = [{"method": "semianagg", "rounds": 3}]
    few = {"name": "synthetic", "train_limit": 150}
    content = {**CONTENT, "data": few, "privacy": NOISE, "stages": rounds}
    simulation = build(make_experiment(content))
    coordinator, sites, server = dealt_out(simulation, tmp_path)
    home = tmp_path / "coordinator"
    command = ["server", home, "--port", coordinator.port]
    with ExitStack() as stack:
        for site in sites:
            stack.enter_context(started("site", "--data", site, "--server", server))
        with started(*command) as process:
            until(lambda: _is_between_the_sums(sites[0], round=1))
            killed(process, home)
        assert not (home / "run/summary.json").exists()
        before = [_session(site) for site in sites]
        with started(*command) as process:
            said, _ = process.communicate(timeout=600)
    assert process.returncode == 0, said
    after = [_session(site) for site in sites]
    _check_account(simulation, tmp_path, sites)
    _check_no_mask_twice(before, after, sites)
    assert model_sha256(tmp_path) == digest(_with_secrets_of(sites, simulation, home))


def _check_account(simulation: Simulation, folder: Path, sites: Sequence[Path]) -> None:
    """Two rounds are told and paid for, once, and a third one is not begun."""
    (cost,) = Course.of(simulation).costs
    told = [record["privacy"] for record in records_of(folder)]
    assert [each["cost"] for each in told] == [cost, 2 * cost]
    assert 0 < told[0]["epsilon"] < told[1]["epsilon"] <= NOISE["budget_epsilon"]
    assert "FS6112" in told[1]["stops"]
    for site in sites:
        paid = journal.read(site / LEDGER)
        assert [(each["round"], each["cost"]) for each in paid] == [
            (0, cost),
            (1, cost),
        ]


def _check_no_mask_twice(before: Any, after: Any, sites: Sequence[Path]) -> None:
    """The second attempt at the round has keys of its own, and so other masks."""
    secrets = [
        secret
        for session in (*before, *after)
        for secret in (session["seal"], *session["pair"], *session["own"])
    ]
    assert len(set(secrets)) == len(secrets)
    for site in sites:
        sent = [
            (entry["round"], entry["field"], entry["sha256"])
            for entry in read_log(site)
            if entry["field"] in ("statistics.claims", "statistics.model")
        ]
        hashes = {sha256 for *_, sha256 in sent}
        # Claims of the second round left twice, under two masks; all else once.
        assert len(hashes) == len(set(sent)) >= 5
        assert len({each for each in sent if each[:2] == (2, "statistics.claims")}) == 2


def _session(site: Path) -> dict[str, Any]:
    (path,) = site.glob("memory/*/sums-000/session.json")
    return json.loads(path.read_text())


def _is_between_the_sums(site: Path, round: int) -> bool:
    """Tell whether a site has helped to open the claims, and not yet the model."""
    found = list(site.glob("memory/*/sums-000/session.json"))
    if not found or _session(site)["round"] != round:
        return False
    (past,) = site.glob(f"memory/*/sums-000/round-{round:08}.json")
    opened = json.loads(past.read_text())["opened"]
    return "claims" in opened and "model" not in opened


class Apart(WrappedEngine):
    """Each site in an engine of its own, whose method knows that site's secret."""

    def __init__(self, engines: dict[int, InProcess], engine: InProcess) -> None:
        super().__init__(engine)
        self._engines = engines

    def run(self, tasks: Sequence[Task]) -> Sequence[Answer]:
        return [
            answer
            for task in tasks
            for answer in self._engines[task.client].run([task])
        ]


def _with_secrets_of(sites: Sequence[Path], simulation: Simulation, home: Path) -> Any:
    """Run the same rounds in this process; return the model."""
    plan = read_blueprint((home / "plan.json").read_text()).sha256
    clients = {client.id: client for client in simulation.federation.clients}
    (stage,) = simulation.experiment.stages
    engines = {}
    for id, client in clients.items():
        own = replace(simulation, secret=secret_of(sites[id], plan))
        engines[id] = InProcess(own.method(stage), [client])
    (*_, last) = run_stages(
        simulation,
        lambda method, _: Apart(engines, InProcess(method, list(clients.values()))),
        Judge(),
    )
    return last.weights
