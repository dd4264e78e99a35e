"""The owner of a site agrees to a plan, or looks at what is agreed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from fedsemi.cli import app
from fedsemi.config.experiment import make_experiment
from fedsemi.data.site import Site, write_site
from fedsemi.deployment.site.agreement import AGREED
from fedsemi.errors import ConfigError, ProtocolError
from fedsemi.simulation.build import build


@pytest.fixture
def site(small_config: dict[str, Any], tmp_path: Path) -> Path:
    """A site with labels that was told no plan, and two plans beside it."""
    for name, batch_size in (("plan", 4), ("greedy", 400)):
        small_config["local"]["batch_size"] = batch_size
        simulation = build(make_experiment(small_config))
        (tmp_path / f"{name}.json").write_text(simulation.as_json())
    client = simulation.federation.clients[0]
    return write_site(tmp_path / "site-0", Site(client, simulation.class_names))


def agree(site: Path, *words: str) -> str:
    arguments = ["agree", str(site), *words]
    done = CliRunner().invoke(app, arguments, catch_exceptions=False)
    assert done.exit_code == 0
    return " ".join(done.output.split())


def test_a_site_that_was_told_no_plan_says_what_will_count(site: Path) -> None:
    told = agree(site)
    assert told.startswith("agreed to no plan yet: the first one within the policy")
    assert not (site / AGREED).exists()


def test_what_was_agreed_to_is_said_in_words_then_and_later(site: Path) -> None:
    told = agree(site, str(site.parent / "plan.json"))
    assert told.startswith("agreed to plan ")
    assert "2 rounds of supervised (1 epoch in batches of 4, sends the model" in told
    assert "2 rounds of semianagg" in told and "diversity" in told
    assert agree(site) == told


def test_a_plan_beyond_the_bounds_is_refused_unless_the_owner_insists(
    site: Path,
) -> None:
    greedy = str(site.parent / "greedy.json")
    with pytest.raises(ProtocolError, match="FS2130"):
        agree(site, greedy)
    assert agree(site).startswith("agreed to no plan yet")
    told = agree(site, greedy, "--beyond-bounds")
    assert "beyond the bounds: " in told and "batch_size = 400" in told
    assert agree(site) in told


def test_a_later_agreement_takes_the_place_of_an_earlier_one(site: Path) -> None:
    first = agree(site, str(site.parent / "plan.json"))
    agree(site, str(site.parent / "greedy.json"), "--beyond-bounds")
    assert agree(site) != first and "batches of 400" in agree(site)


def test_a_plan_that_is_not_there_is_one_line(site: Path) -> None:
    with pytest.raises(ConfigError, match=r"FS4001 cannot read 'nowhere\.json'"):
        agree(site, "nowhere.json")
