"""When a person is warned, and of what."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from fedsemi.client.findings import Validation
from fedsemi.config.protection import AlarmSettings
from fedsemi.objectives.calibration import Calibration
from fedsemi.runs.records import ClientRecord, RoundRecord
from fedsemi.server.alarms import Watchman

NAMES = ("cat", "dog")


def unlabeled(contribution: float = 0.25, num_pseudo: int = 80) -> ClientRecord:
    return ClientRecord(0, 100, num_pseudo, contribution)


def found(accuracy: float, **changes: Any) -> Validation:
    """What labeled clients found on 1,000 images, unless told otherwise."""
    calm = Validation(1000, accuracy, 0.5, (1.0, 0.5), 0.05, Calibration((), ()))
    return replace(calm, **changes)


def record(
    round: int, accuracy: float = 0.8, stage: int = 1, **changes: Any
) -> RoundRecord:
    calm = RoundRecord(
        stage,
        "semianagg",
        round,
        rounds=20,
        seconds=1.0,
        validation=found(accuracy),
        clients={1: unlabeled(), 9: unlabeled()},
    )
    return replace(calm, **changes)


def kinds(records: list[RoundRecord], **settings: Any) -> list[tuple[int, str]]:
    watchman = Watchman(AlarmSettings(**settings), NAMES)
    return [(a.round, a.kind) for r in records for a in watchman.look(r)]


def test_a_healthy_run_is_left_in_peace() -> None:
    assert kinds([record(r) for r in range(1, 20)]) == []


def test_a_lasting_loss_on_held_out_images_is_told_once() -> None:
    falling = [0.8, 0.9, 0.84, 0.84, 0.84, 0.84, 0.84]
    told = kinds([record(r, a) for r, a in enumerate(falling, start=1)])
    assert told == [(5, "hurt")]


def test_a_loss_that_few_images_explain_is_borne() -> None:
    values = list(enumerate([0.85, 0.73, 0.73, 0.73], start=1))
    assert kinds([record(r, a) for r, a in values]) == [(4, "hurt")]
    # Of 33 images two standard errors are 0.14.
    few = [record(r, validation=found(a, num=33)) for r, a in values]
    assert kinds(few) == []


def test_two_of_33_images_are_no_loss_even_after_a_perfect_round() -> None:
    values = enumerate([1.0, 31 / 33, 31 / 33, 31 / 33], start=1)
    assert kinds([record(r, validation=found(a, num=33)) for r, a in values]) == []


def test_a_short_loss_is_borne() -> None:
    values = [0.9, 0.5, 0.5, 0.9, 0.5, 0.5, 0.9]
    assert kinds([record(r, a) for r, a in enumerate(values, start=1)]) == []


def test_the_loss_is_measured_from_the_warm_up_on() -> None:
    warm = record(1, 0.9, stage=0, clients={})
    assert kinds([warm, *(record(r, 0.8) for r in (1, 2, 3))]) == [(3, "hurt")]


def test_idle_clients_are_named_by_their_ids() -> None:
    watchman = Watchman(AlarmSettings(), NAMES)
    alarms = []
    for round in range(1, 6):
        clients = {1: unlabeled(), 9: unlabeled(contribution=0.0)}
        alarms += watchman.look(record(round, clients=clients))
    assert [(a.round, a.what) for a in alarms] == [
        (3, "Hardly any contribution for 3 rounds: client 9.")
    ]


def test_a_collapse_of_acceptance_is_told() -> None:
    few = {1: unlabeled(num_pseudo=30), 9: unlabeled(num_pseudo=30)}
    records = [record(r) for r in range(1, 4)]
    records += [record(r, clients=few) for r in range(4, 7)]
    assert kinds(records, patience=2) == [(5, "collapse")]


def told_of_collapse(*shares: int) -> str:
    clients = [{1: ClientRecord(0, 1000, share, 1.0)} for share in shares]
    watchman = Watchman(AlarmSettings(patience=2), NAMES)
    records = [record(r, clients=c) for r, c in enumerate(clients, start=1)]
    (alarm,) = [a for r in records for a in watchman.look(r) if a.kind == "collapse"]
    return alarm.what


def test_a_collapse_is_told_without_a_comparison_of_equals() -> None:
    none = "No unlabeled image gets a confident pseudo-label"
    assert told_of_collapse(0, 0) == f"{none}."
    assert told_of_collapse(340, 0, 0) == f"{none}; it was 34.0%."
    few = "of the unlabeled images get a confident pseudo-label"
    assert told_of_collapse(340, 100, 100) == f"Only 10.0% {few}; it was 34.0%."
    assert told_of_collapse(4, 4) == f"Only 0.4% {few}."


def test_a_warm_up_that_misses_a_class_or_is_sure_of_nothing_is_told() -> None:
    weak = found(0.8, per_class_recall=(1.0, 0.0), calibration_error=0.4)
    warm = record(5, stage=0, clients={}, validation=weak)
    watchman = Watchman(AlarmSettings(), NAMES, [warm])
    alarms = watchman.look(record(1))
    assert [a.kind for a in alarms] == ["warm-up", "calibration"]
    assert "dog" in alarms[0].what
    assert all(a.remedy for a in alarms)


def test_without_held_out_images_the_other_alarms_still_work() -> None:
    clients = {1: unlabeled(contribution=0.0), 9: unlabeled()}
    records = [record(r, validation=None, clients=clients) for r in range(1, 7)]
    assert kinds(records) == [(3, "idle")]


def test_of_many_missing_classes_some_are_named() -> None:
    names = tuple(f"class {c}" for c in range(100))
    watchman = Watchman(AlarmSettings(), names)
    lost = found(0.8, per_class_recall=(0.0,) * 100)
    watchman.look(record(1, stage=0, clients={}, validation=lost))
    (alarm,) = watchman.look(record(1))
    assert "class 5 and 94 more classes among" in alarm.what


def test_what_masks_hide_alarms_nobody() -> None:
    """The zeros of a masked round are no idle clients, and no collapse of labels."""
    silent = {1: unlabeled(0.0, 0), 9: unlabeled(0.0, 0)}
    rounds = [record(r, clients=silent) for r in range(1, 20)]
    assert "idle" in {kind for _, kind in kinds(rounds)}
    assert kinds([replace(each, hidden=True) for each in rounds]) == []
