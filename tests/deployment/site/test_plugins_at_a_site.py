"""A site runs no code from outside fedsemi that its owner has not named."""

from __future__ import annotations

import json
import sys
from dataclasses import replace

import pytest
from typer.testing import CliRunner

pytest.importorskip("flwr")

from flwr.app import Context, RecordDict

from fedsemi.cli import app
from fedsemi.config.blueprint import read_blueprint
from fedsemi.data.site import Site, write_site
from fedsemi.deployment.introduction import check_introduction, introduction_of
from fedsemi.deployment.site.agreement import AGREED, read_agreed
from fedsemi.deployment.site.client_app import deployed_desk, leaving
from fedsemi.errors import ConfigError, ProtocolError

from ..conftest import tiny

RULE = """
from pathlib import Path
Path(__file__).with_suffix(".ran").touch()

from fedsemi.contributions import by_data_size
from fedsemi.methods.averaging import Averaging

class BySize(Averaging):
    def contributions(self, updates):
        return by_data_size(updates)
"""


@pytest.fixture
def rule(tmp_path, monkeypatch):
    """A module that leaves a trace when it is imported."""
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "site_rule", raising=False)
    path = tmp_path / "site_rule.py"
    path.write_text(RULE)
    return path


@pytest.fixture
def simulation(rule):
    return tiny("site_rule:BySize", local={"batch_size": 2})


@pytest.fixture
def folder(simulation, tmp_path):
    site = Site(simulation.federation.clients[0], simulation.class_names)
    return write_site(tmp_path / "site-0", site)


def desk(folder, plan):
    return deployed_desk(
        Context(1, 1, {"data": str(folder)}, RecordDict(), {"plan": plan})
    )


def unload(rule):
    sys.modules.pop("site_rule", None)
    rule.with_suffix(".ran").unlink()


def agree(folder, plan, *options):
    path = folder.parent / "plan.json"
    path.write_text(plan)
    return CliRunner().invoke(app, ["agree", str(folder), str(path), *options])


def edited(plan, **changes):
    content = json.loads(plan)
    content["plugins"]["site_rule:BySize"] |= changes
    return json.dumps(content, sort_keys=True)


def test_a_plan_with_foreign_code_is_not_even_imported(simulation, folder, rule):
    plan = simulation.as_json()
    unload(rule)
    with pytest.raises(ProtocolError, match=r"FS2137 .*'site_rule:BySize'.*--allow"):
        desk(folder, plan)
    assert isinstance(agree(folder, plan).exception, ProtocolError)
    assert not rule.with_suffix(".ran").exists()
    assert not (folder / AGREED).exists()


def test_a_plan_that_hides_its_plugins_is_refused_as_well(simulation, folder, rule):
    content = json.loads(simulation.as_json())
    del content["plugins"]
    hidden = json.dumps(content)
    with pytest.raises(ProtocolError, match="FS2137"):
        desk(folder, hidden)
    allowed = agree(folder, hidden, "--allow", "site_rule:BySize")
    assert "FS2138" in str(allowed.exception)


def test_a_network_beside_the_one_that_the_plan_names_is_refused(simulation):
    content = json.loads(simulation.as_json())
    content["model"]["name"] = "simple-cnn"
    content["model"]["width"] = None
    with pytest.raises(ConfigError, match=r"FS4106 .*two networks"):
        read_blueprint(json.dumps(content))


def test_the_owner_allows_a_plugin_by_its_name(simulation, folder):
    plan = simulation.as_json()
    said = agree(folder, plan, "--allow", "site_rule:BySize")
    assert said.exit_code == 0, said.output
    assert "with code of its own: method site_rule:BySize" in said.output
    agreed = read_agreed(folder)
    assert agreed is not None
    assert len(agreed["plugins"]["site_rule:BySize"]["sha256"]) == 64
    found = desk(folder, plan).introduction()
    assert check_introduction(simulation, found).id == 0
    assert found.plugins[0].endswith("site_rule:BySize")


def test_another_source_than_the_plans_is_one_line_at_the_site(simulation, folder):
    plan = edited(simulation.as_json(), sha256="0" * 64)
    refused = agree(folder, plan, "--allow", "site_rule:BySize").exception
    assert str(refused).startswith("FS2138 the plug-in 'site_rule:BySize' is ")
    assert "install the same version everywhere" in str(refused)


def test_a_plugin_that_changed_after_the_owner_agreed_is_refused(
    simulation, folder, rule
):
    agree(folder, simulation.as_json(), "--allow", "site_rule:BySize")
    rule.write_text(RULE + "# changed on both sides\n")
    with pytest.raises(ProtocolError, match=r"FS2131|FS2132"):
        desk(folder, simulation.as_json())


def test_a_missing_plugin_is_one_line_and_tells_no_paths(
    simulation, folder, rule, tmp_path
):
    plan = simulation.as_json()
    agree(folder, plan, "--allow", "site_rule:BySize")
    unload(rule)
    rule.write_text(f"open({str(tmp_path / 'secret')!r})")
    with pytest.raises(ProtocolError) as caught:
        desk(folder, plan)
    assert str(caught.value).startswith("FS2138 the method 'site_rule:BySize' of the")
    assert "FileNotFoundError" in str(caught.value)
    assert str(tmp_path) not in str(caught.value)


def test_the_coordinator_refuses_a_site_with_another_plugin(simulation):
    info = simulation.federation.clients[0].info
    found = introduction_of(simulation, info, simulation.class_names)
    other = replace(found, plugins=["0" * 16 + "  site_rule:BySize"])
    with pytest.raises(
        ProtocolError, match=r"FS2115 site 0 is refused: its plugins .*same plug-ins"
    ):
        check_introduction(simulation, other)


def test_what_a_plugin_says_when_it_breaks_stays_at_the_site():
    secret = FileNotFoundError("/home/somebody/patients.csv")
    error = ConfigError("the model 'x:Y' cannot be made (/home/…)", code="FS4162")
    error.__cause__ = secret
    told = leaving(error)
    assert told.startswith("FS4162 a plug-in of the plan failed")
    assert "FileNotFoundError" in told
    assert "home" not in told
