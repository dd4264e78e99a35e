"""Names of experiments survive what a release adds."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from fedsemi.config import experiment as config
from fedsemi.config import naming
from fedsemi.config.experiment import (
    _checked_settings,
    make_experiment,
    settings_model,
)
from fedsemi.config.naming import differing, sha256_of
from fedsemi.evidence.catalogue import Setting
from fedsemi.evidence.jobs import Job

_RECORDS = sorted(Path(__file__).parents[2].glob("results/*/runs/*.json"))


def _experiment(**changes):
    content = {
        "data": {"name": "digits"},
        "model": {"name": "resnet8"},
        "stages": [{"method": "supervised", "rounds": 3}],
    }
    return make_experiment(content | changes)


def test_a_name_is_the_hash_of_what_differs_from_the_defaults() -> None:
    written = (
        '{"schema":"fedsemi-experiment-1","settings":{"experiment":{'
        '"data":{"name":"digits"},"guard":{"enabled":false},'
        '"model":{"name":"resnet8"},"seed":7,'
        '"stages":[{"method":"supervised","rounds":3}]},"stages":[{}]}}'
    )
    found = _experiment(seed=7, guard={"enabled": False}).sha256
    assert found == hashlib.sha256(written.encode()).hexdigest()


def test_a_setting_at_its_default_may_be_written_or_left_out() -> None:
    written = _experiment(partition={"num_clients": 10}, precision="float32")
    assert written.sha256 == _experiment().sha256


def test_every_setting_that_differs_changes_the_name() -> None:
    stage = {"method": "semianagg", "rounds": 3}
    names = {
        _experiment(**changes).sha256
        for changes in (
            {},
            {"seed": 2},
            {"precision": "bf16"},
            {"guard": {"enabled": True}},
            {"guard": {"enabled": False}},
            {"local": {"epochs": 2}},
            {"stages": [stage]},
            {"stages": [stage | {"rule": "released"}]},
            {"stages": [stage | {"learner": {"cutoff": 0.8}}]},
            {"stages": [stage | {"learner": {"name": "acr", "cutoff": 0.8}}]},
            {"stages": [stage | {"local": {"epochs": 2}}]},
        )
    }
    assert len(names) == 10  # one of the two guards is the schema's default


def test_a_new_setting_with_a_default_leaves_names_alone() -> None:
    @dataclass
    class Before:
        epochs: int = 1

    @dataclass
    class After:
        epochs: int = 1
        brand_new: str = "off"

    assert sha256_of(Before(2)) == sha256_of(After(2))
    assert sha256_of(After(2)) != sha256_of(After(2, "on"))


@pytest.mark.parametrize(
    ("method", "written"),
    [
        ("orchestra", {"server_sinkhorn_iterations": 100}),
        ("fedirm", {"unlabeled_after": 20}),
    ],
)
def test_a_method_that_does_otherwise_than_before_has_a_new_name(
    method: str, written: dict[str, int]
) -> None:
    assert differing(settings_model(method)()) == written


def test_a_default_that_changes_is_noted_and_leaves_names_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    @dataclass
    class Section:
        enabled: bool = False

    @dataclass
    class Whole:
        section: Section

    monkeypatch.setattr(naming, "SCHEMA_DEFAULTS", {("Section", "enabled"): True})
    assert differing(Whole(Section(True))) == {"section": {}}
    assert differing(Whole(Section(False))) == {"section": {"enabled": False}}


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_a_noted_default_shows_however_deep_its_section_is(
    monkeypatch: pytest.MonkeyPatch, depth: int
) -> None:
    @dataclass
    class Inner:
        holders: int = 2

    @dataclass
    class Middle:
        inner: Inner = field(default_factory=Inner)
        size: int = 5

    @dataclass
    class Outer:
        middle: Middle = field(default_factory=Middle)

    records = [Inner, Middle, Outer]
    before = sha256_of(records[depth - 1]())
    monkeypatch.setattr(naming, "SCHEMA_DEFAULTS", {("Inner", "holders"): 1})
    # Two holders are done by default now, one was when the schema was made.
    assert sha256_of(records[depth - 1]()) != before
    old = Middle(Inner(1)) if depth > 1 else Inner(1)
    assert sha256_of(Outer(old) if depth == 3 else old) == before


def test_a_default_that_a_section_sets_itself_is_no_change(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    @dataclass
    class Inner:
        holders: int = 2

    @dataclass
    class Outer:
        inner: Inner = field(default_factory=lambda: Inner(7))

    monkeypatch.setattr(naming, "SCHEMA_DEFAULTS", {("Inner", "holders"): 1})
    assert differing(Outer()) == {}


def test_isofed_keeps_the_names_of_runs_that_had_pre_training() -> None:
    stage = {"method": "isofed", "rounds": 3}
    found = [
        differing(_checked_settings(each))
        for each in _experiment(stages=[stage, stage | {"pretrain_epochs": 1}]).stages
    ]
    assert found == [{"pretrain_epochs": 0}, {}]


def test_a_run_with_todays_guard_is_not_taken_for_one_with_an_older(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    on, off = _experiment(guard={"enabled": True}), _experiment()
    today = on.sha256, off.sha256
    monkeypatch.setattr(config, "GUARD_RULES", 1)
    assert on.sha256 != today[0] and off.sha256 == today[1]


@pytest.mark.parametrize("path", _RECORDS[:: max(1, len(_RECORDS) // 40)], ids=str)
def test_committed_records_are_called_by_their_experiment(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if path.parents[1].name == "small":  # made with the guard's first rules
        monkeypatch.setattr(config, "GUARD_RULES", 1)
    record = json.loads(path.read_text("utf-8"))
    pairs = tuple(sorted(record["partition"].items()))
    setting = Setting(record["dataset"], record["arm"], pairs, record["without"])
    prelude = record["prelude"] and make_experiment(record["prelude"])
    experiment = make_experiment(record["config"])
    assert Job(setting, record["seed"], experiment, prelude).key == path.stem
