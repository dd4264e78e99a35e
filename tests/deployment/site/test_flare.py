"""A job of FLARE without FLARE: a client API that is made up, and both ends of ours."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

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


@pytest.mark.parametrize("meta", [None, {}, {META: 1}, {META: {"kind": "train"}}])
def test_a_model_that_does_not_say_what_it_is_is_refused(meta):
    with pytest.raises(ProtocolError, match="FS2101 a model of FLARE does not say"):
        about(meta)
