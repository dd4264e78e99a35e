"""A site's owner sets rules; no answer goes beyond them, or by a damaged file."""

from __future__ import annotations

from dataclasses import replace

import pytest

pytest.importorskip("flwr")

from fedsemi.config.blueprint import Blueprint
from fedsemi.config.experiment import make_experiment
from fedsemi.data.site import Site, read_site, write_site
from fedsemi.deployment.certificates import PEERS
from fedsemi.deployment.codec import Order
from fedsemi.deployment.site.agreement import AGREED, Agreement
from fedsemi.deployment.site.desk import Desk
from fedsemi.deployment.site.memory_store import MemoryStore
from fedsemi.deployment.site.policy import POLICY, Policy, line_of, read_policy
from fedsemi.errors import ConfigError, ProtocolError
from fedsemi.messages import STATISTICS
from fedsemi.methods import METHODS
from fedsemi.noise import secret_of
from fedsemi.seeds import seed_of
from fedsemi.simulation.build import build

from ..attacker import asked, order, real_desk, refusal
from ..conftest import tiny


@pytest.fixture(scope="module")
def honest():
    return tiny(local={"batch_size": 2})


@pytest.fixture
def folder(tmp_path, honest):
    """The folder of the labeled site, whose owner has set no rules yet."""
    client = honest.federation.clients[0]
    return write_site(tmp_path / "site-0", Site(client, honest.class_names))


def said(honest, folder, text=None, sites=3):
    """Return how a site with this policy refuses a fair task, empty if it does not."""
    if text is not None:
        (folder / POLICY).write_text(text)
    fair = order(honest, honest.initial_weights(), client=0)
    return refusal(asked(honest, folder, replace(fair, sites=sites)))


def test_without_a_file_a_usual_plan_is_answered(honest, folder):
    assert read_policy(folder).text is None
    assert said(honest, folder) == ""


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            '[answers]\nmethods = ["supervised"]',
            "FS6101 this site's policy refuses the plan: stages.1 is of semianagg "
            "(answers.methods in site-policy.toml, line 2)",
        ),
        (
            "[answers]\n\nstatistics = []",
            "FS6101 this site's policy refuses the plan: stages.1, semianagg, sends "
            "diversity (answers.statistics in site-policy.toml, line 3)",
        ),
        (
            "[answers]\nmasked_only = true",
            "FS6101 this site's policy refuses the plan: privacy.masked is false "
            "(answers.masked_only in site-policy.toml, line 2)",
        ),
        (
            "[bounds]\nrounds = 2",
            "FS2130 this site does not agree to the plan: the number of rounds = 3 is "
            "not from 1 to 2 (bounds.rounds in site-policy.toml, line 2)",
        ),
        (
            "[bounds]\nepochs = 1\n[bounds.more]",
            "FS6100 this site's policy is damaged, so that it answers nothing",
        ),
        (
            "[bounds]\nimages = 5000",
            "FS2130 this site does not agree to the plan: the site has too few images "
            "for any plan (bounds.images in site-policy.toml, line 2)",
        ),
    ],
)
def test_a_refusal_names_the_line_of_the_policy(honest, folder, text, told):
    found = said(honest, folder, text)
    assert found.startswith(told), found
    assert not (folder / AGREED).exists()
    assert str(folder) not in found


def test_a_federation_of_fewer_sites_than_the_owner_asks_for_gets_no_answer(
    honest, folder
):
    assert said(honest, folder, sites=2) == (
        "FS6102 this site answers in no federation of 2 "
        "(bounds.sites in site-policy.toml, a default)"
    )
    assert said(honest, folder, "[bounds]\nsites = 2", sites=2) == ""


DAMAGED = [
    b"",  # an empty file is a file: all rules at their defaults
    b"[answers",
    b"\xff\xfe",
    b"methods = []",
    b"[answer]\nmethods = []",
    b'[answers]\nmethods = "all"',
    b"[answers]\nmethod = []",
    b"[bounds]\nrounds = 2.5",
    b"[bounds]\nrounds = -1",
    b"[bounds]\nlr = [1e-4]",
    b"[budget]\nepsilon = 0",
    b"[budget]\nepsilon = inf",
    b"[budget]\nepsilon = nan",
    b"[budget]\ndelta = 1.0",
    b"[budget]\nepsilon = 1979-05-27",
    b"[bounds]\nrounds = 1\nrounds = 2",
    b"[" * 5000,
    b"#" * 300_000,
]


@pytest.mark.parametrize("text", DAMAGED[1:], ids=lambda text: repr(text[:24]))
def test_a_damaged_policy_stops_all_answers_also_to_an_agreed_plan(
    honest, folder, text
):
    assert said(honest, folder) == ""
    (folder / POLICY).write_bytes(text)
    with pytest.raises(ConfigError, match=r"FS6100 .* nothing is answered until"):
        read_policy(folder)
    told = "FS6100 this site's policy is damaged, so that it answers nothing"
    assert said(honest, folder) == told
    (folder / POLICY).unlink()
    assert said(honest, folder) == ""


def test_a_policy_that_cannot_be_opened_is_not_taken_for_none(honest, folder):
    (folder / POLICY).symlink_to(folder / "nowhere")
    assert said(honest, folder).startswith("FS6100")
    (folder / POLICY).unlink()
    (folder / POLICY).mkdir()
    assert said(honest, folder).startswith("FS6100")


def test_an_empty_file_is_the_default_policy(folder):
    (folder / POLICY).write_bytes(DAMAGED[0])
    assert read_policy(folder).sha256 == Policy().sha256


def test_a_rule_that_is_set_after_an_agreement_counts(honest, folder):
    Agreement(folder, honest, read_site(folder)).agree("a test")
    assert said(honest, folder) == ""
    assert said(honest, folder, "[bounds]\nrounds = 1").startswith("FS2130")
    assert said(honest, folder, "[answers]\nmethods = []").startswith("FS6101")


def test_an_owner_may_except_a_plan_from_bounds_but_not_from_answers(honest, folder):
    agreement = Agreement(folder, honest, read_site(folder))
    (folder / POLICY).write_text("[bounds]\nrounds = 1\nsites = 100")
    with pytest.raises(ProtocolError, match=r"FS2130 .*bounds\.rounds .*line 2"):
        agreement.agree("a test")
    agreement.agree("a test", beyond_bounds=True)
    assert said(honest, folder, sites=1) == ""
    (folder / POLICY).write_text("[answers]\nmethods = []")
    fresh = Agreement(folder, honest, read_site(folder))
    with pytest.raises(ProtocolError, match=r"FS6101 .*answers\.methods .*line 2"):
        fresh.agree("a test", beyond_bounds=True)


def test_the_hash_of_the_policy_is_part_of_the_introduction(honest, folder):
    default = real_desk(honest, folder).introduction().policy_sha256
    assert default == Policy().sha256
    (folder / POLICY).write_text("[bounds]\nrounds = 50  # for now")
    strict = real_desk(honest, folder).introduction().policy_sha256
    (folder / POLICY).write_text("# Said otherwise\n[bounds]\nrounds = 50")
    assert default != strict == real_desk(honest, folder).introduction().policy_sha256


def test_a_line_is_found_in_its_own_section_alone():
    text = '[budget]\n# rounds = 1\n[ bounds ] # here\n"x"\n  rounds=7\nround = 1\n'
    assert line_of(text, "bounds.rounds") == 5
    assert line_of(text, "answers.rounds") is None


@pytest.mark.parametrize("name", sorted(METHODS.own))
def test_every_statistic_of_our_methods_is_a_named_one(name, honest):
    content = honest.experiment.model_dump(mode="json")
    content["stages"] = [{"method": name, "rounds": 1}]
    experiment = make_experiment(content)
    plan = Blueprint(experiment, honest.model, honest.views, honest.class_names)
    assert set(plan.method(experiment.stages[0]).statistics) <= set(STATISTICS)


def test_what_an_agreed_plug_in_declares_is_sent_unless_statistics_are_listed(
    honest, tmp_path, monkeypatch
):
    (tmp_path / "telling.py").write_text(
        "from dataclasses import dataclass\n"
        "from fedsemi.methods.fedavg import UniformSemi\n"
        "@dataclass(frozen=True)\n"
        "class Telling(UniformSemi):\n"
        '    """Tell one number more."""\n'
        '    statistics = ("entropy",)\n'
    )
    monkeypatch.syspath_prepend(tmp_path)
    content = honest.experiment.model_dump(mode="json")
    content["stages"] = [{"method": "telling:Telling", "rounds": 1}]
    plan = Blueprint(
        make_experiment(content), honest.model, honest.views, honest.class_names
    )
    assert list(read_policy(tmp_path).refused_statistics(plan)) == []
    (tmp_path / POLICY).write_text('[answers]\nstatistics = ["diversity"]\n')
    (refused,) = read_policy(tmp_path).refused_statistics(plan)
    assert refused.rule == "answers.statistics" and "sends entropy" in refused.why


NOISE = {"noise_multiplier": 2.0, "statistics_noise": 4.0, "clip": 0.1}
PUBLIC = '[budget]\nepsilon = {}\nagainst = "public"\n'


@pytest.fixture(scope="module")
def noisy():
    """A plan whose rounds cost 1/4 in the first stage."""
    return tiny(local={"batch_size": 2}, privacy=NOISE, guard={"enabled": False})


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[budget]\nepsilon = 9.0", "privacy.noise_multiplier is 0, which no budget"),
        (PUBLIC.format(9.0), "privacy.noise_multiplier is 0, which no budget allows"),
    ],
)
def test_a_budget_refuses_plans_without_noise(honest, folder, text, told):
    found = said(honest, folder, text)
    assert found.startswith(f"FS6101 this site's policy refuses the plan: {told}")
    assert "(budget.epsilon in site-policy.toml, line 2)" in found


def test_noise_that_the_coordinator_adds_keeps_nothing_from_it(noisy, folder):
    found = said(noisy, folder, "[budget]\nepsilon = 9.0")
    assert "privacy.masked is false, so that its coordinator sees all" in found
    assert "(budget.against in site-policy.toml, a default)" in found
    assert said(noisy, folder, PUBLIC.format(9.0)) == ""


def test_a_plain_warm_up_shows_the_coordinator_what_a_budget_keeps_from_it(folder):
    privacy = {**NOISE, "masked": True, "plain_warm_up": True}
    plan = tiny(local={"batch_size": 2}, privacy=privacy, guard={"enabled": False})
    found = said(plan, folder, "[budget]\nepsilon = 9.0")
    assert "privacy.plain_warm_up is true, so that its coordinator sees" in found
    assert "(budget.against in site-policy.toml, a default)" in found
    assert said(plan, folder, PUBLIC.format(9.0)) == ""


MASKED = {
    "data": {"name": "synthetic", "train_limit": 160},
    "partition": {"num_clients": 4, "scheme": "iid"},
    "model": {"name": "resnet8", "width": 4},
    "local": {"batch_size": 2},
    "evaluation": {"validation_fraction": 0.3},
    "guard": {"enabled": False},
    "privacy": {**NOISE, "masked": True},
    "stages": [{"method": "uniform-semi", "rounds": 1}],
}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", True),
        (PUBLIC.format(9.0), True),
        ("[budget]\nepsilon = 9.0", False),
        ("[answers]\nmasked_only = true", False),
    ],
)
def test_who_lets_only_sums_out_sends_no_counts_of_held_out_images(
    tmp_path, text, told
):
    plan = build(make_experiment(MASKED))
    client = next(c for c in plan.federation.clients if c.num_labeled)
    site = Site(client, plan.class_names, plan.federation.held_out[client.id])
    folder = write_site(tmp_path / "site", site)
    (folder / POLICY).write_text(text)
    (folder / PEERS).mkdir()
    agreement = Agreement(folder, plan, site)
    agreement.settle()
    desk = Desk(plan, site, MemoryStore(tmp_path / "memory"), agreement=agreement)
    method = plan.method(plan.experiment.stages[0])
    seed = seed_of(plan.experiment.seed, "stage", 0)
    infos = [each.info for each in plan.federation.clients]
    tasks = method.plan(method.init(plan.initial_weights(), infos, seed))
    (task,) = (each for each in tasks if each.client == client.id)
    update = desk.carry_out(Order(task, stage=0, sites=4))
    assert (update.findings is not None) == told


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("[answers]\nmasked_only = true", "answers.masked_only"),
        ("[budget]\nepsilon = 9.0", "budget.against"),
    ],
)
def test_whoever_lets_only_sums_out_must_know_with_whom_it_sums(tmp_path, text, rule):
    """Else a coordinator is all other sites, and the sum is this site's part."""
    plan = build(make_experiment(MASKED))
    client = plan.federation.clients[0]
    folder = write_site(tmp_path / "site", Site(client, plan.class_names))
    agreement = Agreement(folder, plan, read_site(folder))
    agreement.settle()  # agreed to while there was no such rule
    (folder / POLICY).write_text(text)
    strict = Agreement(folder, plan, read_site(folder))
    with pytest.raises(ProtocolError, match=r"FS6101 .* no folder `peers`") as caught:
        strict.settle()
    assert f"({rule} in site-policy.toml, " in str(caught.value)
    assert str(caught.value).endswith("from its owner, as peers/site-N.pub")
    with pytest.raises(ProtocolError, match="FS6101"):
        strict.agree("a test", beyond_bounds=True)
    (folder / PEERS).mkdir()
    strict.settle()


def test_answers_are_charged_until_the_budget_is_spent_in_whatever_run(noisy, folder):
    """One answer is ε = 1.99, two are 2.92."""
    assert said(noisy, folder, PUBLIC.format(2.5)) == ""
    assert said(noisy, folder) == ""  # the same question again
    other = tiny(
        local={"batch_size": 2}, privacy=NOISE, guard={"enabled": False}, seed=4
    )
    Agreement(folder, other, read_site(folder)).agree("a test")
    found = said(other, folder)
    assert found.startswith("FS6103 this site's budget would be exceeded: ε = 2.9")
    assert "(budget.epsilon in site-policy.toml, line 2)" in found
    assert said(other, folder, PUBLIC.format(3.0)) == ""


def test_the_noise_of_a_site_comes_from_a_secret_that_stays_there(noisy, folder):
    desk = real_desk(noisy, folder)
    secret = secret_of(folder, noisy.sha256)
    assert desk.blueprint.secret == secret and len(secret) == 32
    assert secret != (folder / "noise.secret").read_bytes()
    stage = desk.blueprint.experiment.stages[1]
    assert desk.blueprint.setup(stage).statistics_noise.secret == secret
    assert secret.hex() not in desk.blueprint.as_json()
    assert desk.blueprint.sha256 == noisy.sha256
