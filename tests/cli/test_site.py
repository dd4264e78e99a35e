"""The owner of a site sets rules, and reads what leaves."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from fedsemi.cli import app
from fedsemi.config.experiment import make_experiment
from fedsemi.data.site import Site, write_site
from fedsemi.deployment.site.ledger import Ledger
from fedsemi.deployment.site.policy import POLICY, Policy
from fedsemi.errors import ConfigError
from fedsemi.simulation.build import build


@pytest.fixture
def site(small_config: dict[str, Any], tmp_path: Path) -> Path:
    """A site with labels that was told no plan, and a plan beside it."""
    small_config["local"]["batch_size"] = 4
    simulation = build(make_experiment(small_config))
    (tmp_path / "plan.json").write_text(simulation.as_json())
    client = simulation.federation.clients[0]
    return write_site(tmp_path / "site-0", Site(client, simulation.class_names))


def said(*words: object) -> str:
    arguments = ["site", *map(str, words)]
    done = CliRunner().invoke(app, arguments, catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return " ".join(done.output.split())


def test_a_policy_is_written_once_and_shown_with_its_lines(site: Path) -> None:
    told = said("policy", site)
    assert f"wrote {site / POLICY}" in told
    assert f"policy: site-policy.toml (sha256 {Policy().sha256[:12]})" in told
    (site / POLICY).write_text("[bounds]\nrounds = 50\n")
    told = said("policy", site)
    assert "wrote" not in told and "2 bounds.rounds 50" in told
    assert "default bounds.epochs 100" in told and "budget.epsilon no limit" in told
    assert (site / POLICY).read_text() == "[bounds]\nrounds = 50\n"


def test_what_was_spent_is_told_beside_the_rules(site: Path) -> None:
    Ledger(site, Policy()).charge("question", 1.0)
    assert "spent so far: ε = 4.38 at δ = 1e-05" in said("policy", site)


def test_every_line_that_a_plan_breaks_is_named(site: Path) -> None:
    plan = site.parent / "plan.json"
    assert said("policy", site, plan).endswith("is within the policy")
    (site / POLICY).write_text('[answers]\nmethods = ["fedavg"]\n[bounds]\nrounds = 1')
    told = said("policy", site, plan)
    assert "is refused by line 2, answers.methods: stages.0 is of supervised" in told
    assert "is refused by line 4, bounds.rounds: the number of rounds = 4" in told


def test_a_damaged_policy_is_one_line_that_says_where(site: Path) -> None:
    (site / POLICY).write_text("[bounds]\nround = 1")
    with pytest.raises(
        ConfigError, match=r"FS6100 unknown key 'bounds\.round' .*round"
    ):
        said("policy", site)


def test_a_person_reads_what_will_leave_before_the_first_round(site: Path) -> None:
    told = said("egress", site, site.parent / "plan.json")
    assert "in each of 2 rounds of semianagg:" in told
    assert re.search(r"statistics\.diversity \d+ which classes: AUC 0\.\d\d", told)
    assert "client, round, group 24 nothing new" in told
    assert "in all rounds at most" in told and "refused" not in told
    (site / POLICY).write_text("[answers]\nstatistics = []")
    told = said("egress", site, site.parent / "plan.json")
    assert "refused by the site's policy as it stands: stages.1, semianagg" in told


def test_nothing_has_left_a_site_that_was_not_asked(site: Path) -> None:
    pytest.importorskip("flwr")
    assert said("egress", site, "--log").startswith("0 fields, 0 B")


def test_without_a_plan_the_remedy_is_told(site: Path) -> None:
    with pytest.raises(ConfigError, match=r"FS4112 .*plan\.json"):
        said("egress", site)


def test_a_site_needs_its_folder_to_work(site: Path) -> None:
    with pytest.raises(ConfigError, match="FS4112 Missing option '--data'"):
        said()


def test_of_a_masked_plan_no_model_and_no_statistic_leaves_in_the_clear(
    small_config: dict[str, Any], site: Path
) -> None:
    small_config["privacy"] = {"masked": True, "plain_warm_up": True}
    plan = site.parent / "masked.json"
    plan.write_text(build(make_experiment(small_config)).as_json())
    told = said("egress", site, plan)
    masked = told.partition("rounds of semianagg:")[2]
    assert "statistics.model" in masked and "nobody reads more than the sum" in masked
    assert "statistics.diversity" not in masked and "nearly all of it" not in masked
