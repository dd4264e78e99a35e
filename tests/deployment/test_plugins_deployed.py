"""A method from a file outside the repo, on real processes and real TLS."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

pytest.importorskip("flwr")

from fedsemi.simulation.conduct import conduct
from typer.testing import CliRunner

import fedsemi
from fedsemi.cli import app
from fedsemi.cli.deployment import deal_out
from fedsemi.config.experiment import load_config
from fedsemi.deployment import processes
from fedsemi.deployment.certificates import make_certificates
from fedsemi.deployment.coordinator.coordinator import Coordinator
from fedsemi.deployment.coordinator.engine import Patience
from fedsemi.deployment.one_machine.trial import running_sites, site_folders
from fedsemi.deployment.site.agreement import AGREED
from fedsemi.errors import FedSemiError
from fedsemi.simulation.build import build
from fedsemi.weights import digest

from ..page import write_files

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1200)]
_NAME = "by_entropy:ByEntropy"


@pytest.fixture
def simulation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """The experiment of docs/adding-a-method.md, its module in a folder of its own."""
    outside = tmp_path / "outside"
    outside.mkdir()
    write_files(outside)
    monkeypatch.syspath_prepend(outside)
    _put_on_path(monkeypatch, outside)
    few = ["data.train_limit=300", "data.test_limit=20", "local.batch_size=16"]
    guarded = ["guard.enabled=true", "stages.1.learner.cutoff=0.1"]
    return build(load_config(outside / "entropy.toml", few + guarded))


def _put_on_path(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    source = Path(fedsemi.__file__).parents[1]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(folder), str(source)]))


def _deal(simulation, folder: Path, **settings):
    """Deal out; sites forget what was agreed for them and agree for themselves."""
    deal_out(simulation, folder)
    sites = site_folders(folder)
    make_certificates(folder / "coordinator", sites, ["127.0.0.1", "localhost"])
    for site in sites:
        (site / AGREED).unlink()
    port, patience = processes.free_port(), Patience(deadline=300)
    coordinator = Coordinator(
        folder / "coordinator", port=port, patience=patience, **settings
    )
    return coordinator, sites, f"127.0.0.1:{port}"


def _agree(site: Path, plan: Path) -> None:
    command = ["agree", str(site), str(plan), "--allow", _NAME, "--beyond-bounds"]
    said = CliRunner().invoke(app, command)
    assert said.exit_code == 0, said.output


def test_a_method_from_outside_gives_the_same_bits_over_tls(simulation, tmp_path):
    *_, last = conduct(simulation)
    coordinator, sites, server = _deal(simulation, tmp_path / "federation")
    for site in sites:
        _agree(site, coordinator.folder / "plan.json")
    with coordinator.serving(), running_sites(sites, server):
        coordinator.submit()
        coordinator.wait(print)
    run = coordinator.folder / "run"
    summary = json.loads((run / "summary.json").read_text())
    assert summary["model_sha256"] == digest(last.weights)
    recorded = json.loads((run / "manifest.json").read_text())["plugins"]
    assert list(recorded) == [_NAME]


def test_a_site_with_other_code_or_none_is_refused_in_one_line(
    simulation, tmp_path, monkeypatch
):
    coordinator, sites, server = _deal(
        simulation, tmp_path / "federation", join_seconds=60.0
    )
    _agree(sites[0], coordinator.folder / "plan.json")
    changed = tmp_path / "changed"
    changed.mkdir()
    write_files(changed)
    with (changed / "by_entropy.py").open("a") as file:
        file.write("# another release\n")
    with coordinator.serving():
        _put_on_path(monkeypatch, changed)
        # Site 0 has agreed and has other code, site 1 has never heard of the plug-in.
        with running_sites(sites[:2], server):
            coordinator.submit()
            with pytest.raises(FedSemiError, match=r"FS2204 0 of 3 sites .*FS213[78]"):
                coordinator.wait(print)
    for site, code in zip(sites, ("FS2138", "FS2137"), strict=False):
        (line,) = (site / "flower/refused.log").read_text().splitlines()
        assert code in line
        assert _NAME in line
