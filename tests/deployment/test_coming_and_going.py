"""Sites join, pause and leave a coordinator that runs, over TLS."""

from __future__ import annotations

import json
import os
import shutil
import signal
from contextlib import ExitStack, suppress

import pytest

pytest.importorskip("flwr")

from fedsemi.config.experiment import make_experiment
from fedsemi.deployment.coordinator.admission import admit, retire
from fedsemi.deployment.coordinator.members import Members
from fedsemi.deployment.site.standing import Standing, write_standing
from fedsemi.simulation.build import build
from fedsemi.simulation.run import run_simulation
from fedsemi.weights import digest

from .conftest import tiny
from .real import dealt_out, model_sha256, processes_of, records_of, started, until
from .test_deployment import no_process_left  # noqa: F401

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1200)]


def _seen(folder):
    return [sorted(map(int, record["clients"])) for record in records_of(folder)]


def _membership(seen):
    """Write down who was there when, as a config would have planned it."""
    members = []
    for site in sorted({site for there in seen[1:] for site in there}):
        rounds = [number for number, there in enumerate(seen, 1) if site in there]
        if site:  # site 0 has the labels, and all rounds
            gaps = [n for n in range(rounds[0], rounds[-1] + 1) if n not in rounds]
            member = {"site": site, "joins": rounds[0]}
            member |= {"away": gaps[0], "back": gaps[-1] + 1} if gaps else {}
            if rounds[-1] < len(seen):
                member["leaves"] = rounds[-1] + 1
            members.append(member)
    return members


def _planned(simulation, seen):
    content = simulation.experiment.model_dump(mode="json", exclude_none=True)
    content["membership"] = _membership(seen)
    return build(make_experiment(content))


def _rounds(folder):
    path = folder / "coordinator/run/metrics.jsonl"
    return len(path.read_text().splitlines()) if path.exists() else 0


def test_a_site_is_admitted_another_pauses_and_leaves_across_a_kill(tmp_path):
    """The coordinator is killed after the join, and goes on with the same bits."""
    simulation = tiny(rounds=20)
    coordinator, sites, server = dealt_out(simulation, tmp_path)
    folder = tmp_path / "coordinator"
    public = shutil.move(folder / "enrolled/site-2.pub", tmp_path / "site-2.pub")
    command = ["server", folder, "--port", coordinator.port]
    log = folder / "coordinator.log"
    with ExitStack() as stack:
        for site in sites:  # site 2 is refused at the door until it is admitted
            stack.enter_context(started("site", "--data", site, "--server", server))
        with started(*command) as process:
            until(lambda: _rounds(tmp_path) >= 2)
            assert admit(folder, 2, public, None), "no server runs"
            until(lambda: "site 2 joined" in log.read_text())
            until(lambda: _rounds(tmp_path) and 2 in _seen(tmp_path)[-1])
            for pid in [process.pid, *processes_of(folder)]:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
        with started(*command) as process:
            before = _rounds(tmp_path)
            until(lambda: _rounds(tmp_path) > before)
            write_standing(sites[1], Standing("away"))
            until(lambda: not {1} & {*_seen(tmp_path)[-1], *_seen(tmp_path)[-2]})
            assert Members(folder).absent()[1].reason == "is away"
            write_standing(sites[1], Standing())
            until(lambda: 1 in _seen(tmp_path)[-1])
            write_standing(sites[1], Standing("left"))
            said, _ = process.communicate(timeout=600)
    assert process.returncode == 0, said
    assert Members(folder).absent()[1].for_good
    seen = _seen(tmp_path)
    assert seen[0] == [0] and seen[1] == [0, 1] and seen[-1] == [0, 2], seen
    noted = [n["code"] for record in records_of(tmp_path) for n in record["notices"]]
    assert {"FS5041", "FS5042", "FS5043"} <= set(noted)
    *_, last = run_simulation(_planned(simulation, seen))
    assert model_sha256(tmp_path) == digest(last.weights)


def test_a_retired_site_is_refused_and_the_others_go_on(tmp_path):
    simulation = tiny(rounds=8)
    coordinator, sites, server = dealt_out(simulation, tmp_path)
    folder = tmp_path / "coordinator"
    with ExitStack() as stack:
        for site in sites:
            stack.enter_context(started("site", "--data", site, "--server", server))
        with started("server", folder, "--port", coordinator.port) as process:
            until(lambda: _rounds(tmp_path) >= 2)
            retire(folder, 2)
            said, _ = process.communicate(timeout=600)
    assert process.returncode == 0, said
    seen = _seen(tmp_path)
    assert seen[-1] == [0, 1] and [0, 1, 2] in seen, seen
    members = json.loads((folder / "members.json").read_text())
    assert members["2"]["state"] == "retired"
