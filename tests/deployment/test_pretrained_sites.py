"""A frozen encoder at real sites: the same bits, its own file, nothing of it sent."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import pytest
from safetensors.torch import save_file

pytest.importorskip("flwr")

from fedsemi.cli.deployment import deal_out
from fedsemi.config.blueprint import read_blueprint
from fedsemi.deployment.coordinator.roster import Roster
from fedsemi.deployment.introduction import check_introduction, introduction_of
from fedsemi.deployment.one_machine.loopback import LoopbackGrid
from fedsemi.deployment.one_machine.simulate import run_on_grid
from fedsemi.deployment.site.bounds import BOUNDS
from fedsemi.deployment.site.client_app import client_app, simulated_desk
from fedsemi.errors import ConfigError, ProtocolError
from fedsemi.models import ModelSpec
from fedsemi.runs.manifest import manifest
from fedsemi.server.stages import Judge
from fedsemi.simulation.build import Simulation
from fedsemi.simulation.run import run_simulation
from fedsemi.weights import digest

from .conftest import tiny


def save(folder: Path, seed: int) -> None:
    folder.mkdir(exist_ok=True)
    network = ModelSpec("resnet8", 3, width=4).build(seed).encoder
    save_file(network.state_dict(), folder / "e.safetensors")


@pytest.fixture
def encoders(tmp_path, monkeypatch) -> Path:
    """A folder of encoders, and a home of its own for features."""
    monkeypatch.setenv("FEDSEMI_ENCODERS", str(tmp_path / "encoders"))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    save(tmp_path / "encoders", 5)
    return tmp_path / "encoders"


def frozen(**settings) -> Simulation:
    encoder = {"weights": "e.safetensors", "cached_views": 2, "adapter": 8, **settings}
    sure = {"method": "semianagg", "rounds": 2, "learner": {"cutoff": 0.2}}
    return tiny(
        model={"name": "resnet8", "width": 4, "encoder": encoder},
        evaluation={"validation_fraction": 0.3},
        stages=[{"method": "supervised", "rounds": 1}, sure],
    )


def at_sites(simulation: Simulation, folder: Path) -> list:
    deal_out(simulation, folder)
    app = client_app(partial(simulated_desk, simulation.as_json(), folder))
    grid = LoopbackGrid(app, 3)
    roster = Roster(grid, simulation)
    roster.wait_for(3, 10)
    return list(run_on_grid(grid, simulation, Judge(), roster))


@pytest.mark.parametrize("blocks", [0, 1])
def test_one_process_workers_and_sites_give_the_same_bits(encoders, tmp_path, blocks):
    # By its path: a fork server may have started before the folder was named.
    weights = str(encoders / "e.safetensors")
    simulation = frozen(trained_blocks=blocks, weights=weights)
    here = list(run_simulation(simulation))
    apart = list(run_simulation(simulation, workers=2))
    sites = at_sites(simulation, tmp_path / "sites")
    due = digest(here[-1].state.weights)
    assert digest(apart[-1].state.weights) == due
    assert digest(sites[-1].state.weights) == due
    # Each site keeps features of its own pictures in its own folder.
    for number in range(3):
        kept = list((tmp_path / "sites" / f"site-{number}" / "features").rglob("*-*"))
        assert kept


def test_what_travels_is_adapter_and_head(encoders):
    weights = frozen().initial_weights()
    assert {key.rsplit(".", 2)[0] for key in weights} == {"encoder.adapter", "head"}


def test_manifest_and_plan_name_the_encoder_by_its_hash_and_not_by_its_place(encoders):
    simulation = frozen(weights=str(encoders / "e.safetensors"))
    sha256 = simulation.model.encoder_sha256
    assert manifest(simulation)["encoder_sha256"] == sha256
    plan = json.loads(simulation.as_json())
    assert plan["model"]["encoder"]["sha256"] == sha256
    assert plan["model"]["encoder"]["weights"] == "e.safetensors"
    assert read_blueprint(simulation.as_json()).sha256 == simulation.sha256


def test_a_site_with_another_encoder_takes_no_part(encoders, tmp_path):
    simulation = frozen()
    deal_out(simulation, tmp_path / "sites")
    save(encoders, 6)
    app = client_app(partial(simulated_desk, simulation.as_json(), tmp_path / "sites"))
    roster = Roster(LoopbackGrid(app, 3), simulation)
    with pytest.raises(ProtocolError, match="FS4191"):
        roster.wait_for(3, 1)


def test_a_coordinator_refuses_a_site_that_names_another_encoder(encoders):
    simulation = frozen()
    info = simulation.clients()[0]
    due = introduction_of(simulation, info, simulation.class_names)
    check_introduction(simulation, due)
    object.__setattr__(due, "encoder_sha256", "0" * 64)
    with pytest.raises(ProtocolError, match=r"encoder_sha256.*same encoder"):
        check_introduction(simulation, due)


def test_a_plan_may_not_fill_the_disk_of_a_site(encoders):
    client = frozen().federation.clients[0]
    told = [each.why for each in BOUNDS.outside(frozen(cache_gb=1000.0), client)]
    assert any("cache_gb = 1000" in why for why in told)


def test_other_weights_than_the_config_says_are_refused_before_anything_runs(encoders):
    with pytest.raises(ConfigError, match="FS4191"):
        frozen(sha256="0" * 64)
