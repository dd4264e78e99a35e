"""A job of FLARE without FLARE: a client API that is made up, and both ends of ours."""

from __future__ import annotations

import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from safetensors.torch import load_file

pytest.importorskip("flwr")

from flwr.app import ConfigRecord, RecordDict

from fedsemi.cli.deployment import deal_out
from fedsemi.deployment.coordinator.flare_grid import FlareGrid, NamedRegister
from fedsemi.deployment.coordinator.on_grid import run_on_grid
from fedsemi.deployment.coordinator.roster import Roster
from fedsemi.deployment.flare_letters import META, about, packed, unpacked
from fedsemi.deployment.site.egress import read_log
from fedsemi.deployment.site.flare import work
from fedsemi.deployment.site.standing import Standing, write_standing
from fedsemi.errors import ProtocolError
from fedsemi.server.stages import Judge
from fedsemi.simulation.run import run_simulation
from fedsemi.weights import digest

from ..conftest import tiny


class Flare:
    """Stands for `nvflare.client` at a client that is given one task."""

    FLModel = SimpleNamespace

    def __init__(self, asked):
        self._asked = [asked, None]
        self.sent = None

    def init(self):
        pass

    def is_running(self):
        return True

    def receive(self):
        return self._asked.pop(0)

    def send(self, model):
        self.sent = model


class Job:
    """Three clients whose scripts FLARE would run; here they answer on the spot."""

    def __init__(self, simulation, folder):
        deal_out(simulation, folder)
        self.folder, self.simulation = folder, simulation
        self.clients = {f"site-{number + 1}": number for number in range(3)}

    def _send(self, name, params, meta, came):
        flare = Flare(SimpleNamespace(params=dict(params), meta=dict(meta)))
        work(self.folder / f"site-{self.clients[name]}", flare)
        came(flare.sent)

    def steps(self, sites):
        settings = {"plan": self.simulation.as_json(), "ticket": "a"}
        grid = FlareGrid(self._send, lambda: self.clients, settings)
        register = NamedRegister(self.folder / "coordinator", sites)
        roster = Roster(grid, self.simulation, register)
        roster.wait_for(len(sites), 1)
        return run_on_grid(grid, self.simulation, Judge(), roster)


def test_a_job_gives_the_same_bits_as_this_process(tmp_path):
    simulation = tiny(rounds=2)
    *_, here = run_simulation(simulation)
    job = Job(simulation, tmp_path)
    *_, there = job.steps(job.clients)
    assert digest(there.weights) == digest(here.weights)
    # The site's own log has what left it, as without FLARE.
    assert "weights" in {line["field"] for line in read_log(tmp_path / "site-1")}


def test_a_client_that_is_another_site_than_its_name_says_is_refused(tmp_path):
    swapped = {"site-1": 0, "site-2": 2, "site-3": 1}
    with pytest.raises(ProtocolError, match=r"FS2204 1 of 3 .*FS2125"):
        Job(tiny(rounds=1), tmp_path).steps(swapped)


def test_an_owner_may_be_away_under_flare_too(tmp_path):
    job = Job(tiny(rounds=1), tmp_path)
    write_standing(tmp_path / "site-2", Standing("away"))
    *_, last = job.steps(job.clients)
    assert sorted(last.record.clients) == [0, 1]


def test_records_come_back_as_they_were():
    content = RecordDict({"a": ConfigRecord({"x": 1, "y": b"\0"})})
    assert unpacked(packed(content)) == content


@pytest.mark.parametrize("params", [None, {}, {"letter": "x"}, {"letter": np.ones(2)}])
def test_a_model_without_a_letter_is_refused(params):
    with pytest.raises(ProtocolError, match="FS2101 a model of FLARE holds no letter"):
        unpacked(params)


def test_a_letter_of_garbage_is_refused():
    with pytest.raises(ProtocolError, match=r"FS2101 a letter of FLARE is unreadable"):
        unpacked({"letter": np.frombuffer(b"\xff" * 40, np.uint8)})


def test_a_client_whose_answer_is_garbage_costs_its_answer_and_nothing_else(
    tmp_path, caplog
):
    job = Job(tiny(rounds=1), tmp_path)
    honest = job._send

    def send(name, params, meta, came):
        def forged(model):
            training = meta[META]["kind"] == "train"
            garbage = {"letter": np.frombuffer(b"\xff" * 40, np.uint8)}
            if name == "site-3" and training:
                model = SimpleNamespace(params=garbage)
            came(model)

        honest(name, params, meta, forged)

    job._send = send
    *_, last = job.steps(job.clients)
    assert sorted(last.record.clients) == [0, 1]
    assert "site 2: FS5031" in caplog.text
    assert "FS2101 a letter of FLARE is unreadable" in caplog.text


@pytest.mark.slow
def test_flare_itself_carries_a_job_out_with_the_same_bits(tmp_path):
    pytest.importorskip("nvflare")
    simulation = tiny(rounds=2)
    *_, here = run_simulation(simulation)
    deal_out(simulation, tmp_path)
    script = tmp_path / "job.py"
    script.write_text(_JOB)
    (tmp_path / "client.py").write_text(
        "import sys\nfrom fedsemi.deployment.site.flare import main\n\n"
        "main(sys.argv[1:])\n"
    )
    command = [sys.executable, str(script), str(tmp_path)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, timeout=600)
    assert done.returncode == 0, done.stderr.decode()[-2000:]
    run = tmp_path / "coordinator" / "run"
    there = load_file(run / "model.safetensors")
    assert digest(there) == digest(here.weights)


_JOB = """
import sys
from pathlib import Path

from nvflare.job_config.api import FedJob
from nvflare.job_config.script_runner import FrameworkType, ScriptRunner

from fedsemi.deployment.coordinator.flare import FedsemiController

if __name__ == "__main__":
    trial = Path(sys.argv[1])
    sites = {f"site-{number + 1}": number for number in range(3)}
    job = FedJob("fedsemi", min_clients=len(sites))
    job.to_server(FedsemiController(str(trial / "coordinator"), sites))
    for name, number in sites.items():
        runner = ScriptRunner(
            script="client.py",
            script_args=str(trial / f"site-{number}"),
            framework=FrameworkType.RAW,
        )
        job.to(runner, name)
    job.simulator_run(str(trial / "workspace"))
"""


@pytest.mark.parametrize("meta", [None, {}, {META: 1}, {META: {"kind": "train"}}])
def test_a_model_that_does_not_say_what_it_is_is_refused(meta):
    with pytest.raises(ProtocolError, match="FS2101 a model of FLARE does not say"):
        about(meta)
