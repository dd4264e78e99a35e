"""The benchmark: what is compared under a card, and that LC is the paper's setting."""

from __future__ import annotations

import pytest

from fedsemi.cards import CARDS
from fedsemi.errors import ConfigError
from fedsemi.evidence.benchmark import DEFAULTS, Benchmark, benchmarks, title_of
from fedsemi.evidence.jobs import job_of
from fedsemi.evidence.profiles import Profile
from fedsemi.evidence.questions import QUESTIONS
from fedsemi.evidence.tables import TABLES


def lac(*arms: str) -> Benchmark:
    return Benchmark("LAC", "svhn", arms, arms[0])


def test_lc_shares_the_runs_of_the_first_question(medium: Profile) -> None:
    (made,) = benchmarks("LC", (), None, medium)
    shared = set(made.settings) & set(QUESTIONS["q1"].settings)
    arms = {each.arm for each in shared}
    assert arms == {"lower", "uniform", "fedavg-semi", "semianagg"}
    assert job_of(made.setting("uniform"), 1, medium).key == "72ba60574b8b76c8"


def test_lpc_shares_the_runs_of_table_7(medium: Profile) -> None:
    (made,) = benchmarks("LPC", (), None, medium)
    shared = set(made.settings) & set(TABLES["table7"].settings)
    assert {each.arm for each in shared} == {"lower", "uniform", "semianagg"}


@pytest.mark.parametrize("card", ["LAC", "LS"])
def test_methods_of_a_card_differ_in_nothing_but_their_stages(
    card: str, medium: Profile
) -> None:
    (made,) = benchmarks(card, (), None, medium)
    contents = [medium.content(each, 1) for each in made.settings]
    for content in contents:
        del content["stages"]
    assert all(content == contents[0] for content in contents)


@pytest.mark.parametrize("card", ["LAC", "LS"])
def test_clients_participation_and_epochs_are_those_of_the_card(
    card: str, medium: Profile
) -> None:
    (made,) = benchmarks(card, (), None, medium)
    experiment = job_of(made.setting("semianagg"), 1, medium).experiment
    said = CARDS[made.card]
    assert experiment.setting.card == card
    assert experiment.partition.num_clients == said.clients
    assert experiment.local.epochs == said.epochs
    assert experiment.stages[-1].settings["participation"] == said.participation


def test_a_bound_with_all_labels_is_under_no_card_but_has_its_clients(
    medium: Profile,
) -> None:
    upper = job_of(lac("upper").setting("upper"), 1, medium).experiment
    assert upper.setting.card is None and upper.partition.labeled_clients == "all"
    assert upper.partition.num_clients == CARDS["LAC"].clients


def test_methods_share_a_warm_up_or_have_none(medium: Profile) -> None:
    few = [job_of(lac(arm).setting(arm), 1, medium) for arm in ("semianagg", "sage")]
    assert few[0].warm_up is not None and few[0].warm_up == few[1].warm_up
    server = Benchmark("LS", "mnist", ("semifl", "cbafed"), "semifl")
    for each in server.settings:
        job = job_of(each, 1, medium)
        assert len(job.experiment.stages) == 1 and job.warm_up is None


@pytest.mark.parametrize("card", DEFAULTS)
def test_every_card_has_a_bound_the_reference_and_a_method_made_for_it(
    card: str, medium: Profile
) -> None:
    (made,) = benchmarks(card, (), None, medium)
    assert made.arms[0] == "lower" and made.reference == "uniform"
    assert "semianagg" in made.methods and "lower" not in made.methods
    assert any(made.made_for(arm) for arm in made.methods)


def test_a_method_is_known_by_the_name_of_a_config_too(medium: Profile) -> None:
    own = job_of(Benchmark("LC", "svhn", (), "").setting("uniform-semi"), 1, medium)
    arm = job_of(Benchmark("LC", "svhn", (), "").setting("uniform"), 1, medium)
    assert own.key == arm.key
    assert title_of("uniform-semi") == "uniform-semi"


def test_a_method_says_whether_it_is_made_for_the_card() -> None:
    assert lac("sage").made_for("sage")
    assert not Benchmark("LC", "svhn", ("sage",), "sage").made_for("sage")


@pytest.mark.parametrize(
    ("card", "methods", "reference", "code"),
    [
        ("LX", (), None, "FS4104"),
        ("LC", ("sag",), None, "FS4104"),
        ("LC", ("sage",), "uniform", "FS4521"),
        ("LS", ("warm-up",), None, "FS4522"),
    ],
)
def test_what_cannot_be_compared_is_refused(
    card: str,
    methods: tuple[str, ...],
    reference: str | None,
    code: str,
    medium: Profile,
) -> None:
    with pytest.raises(ConfigError) as raised:
        benchmarks(card, methods, reference, medium)
    assert raised.value.code == code


def test_a_profile_without_the_card_says_which_it_has(medium: Profile) -> None:
    bare = Profile("bare", 1, medium.tables)
    with pytest.raises(ConfigError, match="only under none") as raised:
        benchmarks("LS", (), None, bare)
    assert raised.value.code == "FS4520"
