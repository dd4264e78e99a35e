"""metrics.jsonl has one reader, and it knows what older versions wrote."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fedsemi.client.evaluate import Metrics
from fedsemi.client.findings import Validation
from fedsemi.errors import StorageError
from fedsemi.objectives.calibration import Calibration, Estimate
from fedsemi.runs.metrics_log import timeless
from fedsemi.runs.reading import read_records, record_of
from fedsemi.runs.records import (
    ClientRecord,
    Cut,
    GroupRecord,
    Notice,
    Rejection,
    RoundRecord,
)

TEST = Metrics(0.5, 0.4, None, 0.3, 0.4, (0.4, None, 0.4))
WHOLE = RoundRecord(
    stage=1,
    method="semianagg",
    round=3,
    rounds=9,
    seconds=1.5,
    test=TEST,
    validation=Validation(
        10, 0.6, 1.2, (0.5, None, 0.7), 0.1, Calibration((1, 5), (3, 7))
    ),
    clients={
        0: ClientRecord(10, 0, 0, 0.5, bytes_sent=8, metrics={"loss": 0.25}),
        12: ClientRecord(
            0, 20, 7, 0.25, [0.1, 0.0, 0.5], 0.75, Estimate(0.7, 0.6, 0.8)
        ),
    },
    asked=3,
    used=2,
    dropped=(Rejection(3, 2, "FS2103", "has values too large"),),
    notices=(
        Cut(12, 2, "FS2109", "share of the mean cut to 50.0%", 0.5),
        Notice(None, 2, "FS2202", "no client passed"),
    ),
    intervention="The round was rolled back.",
    running_mean=TEST,
    also_tested={"labeled": 0.5},
    guard=True,
)
FIRST = {
    "stage": 0,
    "method": "supervised",
    "round": 1,
    "rounds": 2,
    "seconds": 0.5,
    "accuracy": 0.5,
    "balanced_accuracy": 0.5,
    "auc": None,
    "precision": 0.5,
    "recall": 0.5,
    "per_class_recall": [0.5, None],
    "clients": {
        "0": {
            "num_labeled": 5,
            "num_unlabeled": 0,
            "num_pseudo": 0,
            "contribution": 1.0,
            "diversity": None,
            "pseudo_label_accuracy": None,
            "metrics": {"loss": 2.0},
        }
    },
}
"""A line as the first version wrote it."""


def written(path: Path, *lines: dict[str, Any]) -> Path:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def test_a_record_comes_back_as_it_was(tmp_path: Path) -> None:
    path = written(tmp_path / "m", WHOLE.as_json())
    assert read_records(path) == [WHOLE]
    assert read_records(path)[0].cuts == WHOLE.notices[:1]


def test_of_a_test_all_is_written_but_the_confusion(tmp_path: Path) -> None:
    confused = replace(TEST, confusion=((1, 0), (0, 1)))
    line = replace(WHOLE, test=confused, running_mean=confused).as_json()
    assert "confusion" not in json.dumps(line)
    assert read_records(written(tmp_path / "m", line)) == [WHOLE]


def test_what_the_first_version_did_not_write_has_its_default(tmp_path: Path) -> None:
    (found,) = read_records(written(tmp_path / "m", FIRST))
    assert found == RoundRecord(
        stage=0,
        method="supervised",
        round=1,
        rounds=2,
        seconds=0.5,
        test=Metrics(0.5, 0.5, None, 0.5, 0.5, (0.5, None)),
        clients={0: ClientRecord(5, 0, 0, 1.0, metrics={"loss": 2.0})},
    )
    assert found.guard is None and not found.cuts and found.validation is None


def test_what_older_versions_said_of_the_guard_in_words_is_a_cut_too() -> None:
    then = WHOLE.as_json()
    del then["notices"][0]["part"]
    assert record_of(then).notices == (
        Cut(12, 2, "FS2109", "share of the mean cut to 50.0%", None),
        WHOLE.notices[1],
    )


def test_what_a_later_version_adds_is_left_out(tmp_path: Path) -> None:
    later = WHOLE.as_json() | {"weather": "fine"}
    later["clients"]["0"]["mood"] = 3
    assert read_records(written(tmp_path / "m", later)) == [WHOLE]


def test_rounds_come_in_order_and_a_repeated_one_counts_once(tmp_path: Path) -> None:
    rounds = [FIRST | {"stage": s, "round": r} for s, r in ((1, 1), (0, 2), (0, 1))]
    again = FIRST | {"stage": 0, "round": 2, "seconds": 7.0}
    found = read_records(written(tmp_path / "m", *rounds, again))
    assert [(r.stage, r.round, r.seconds) for r in found] == [
        (0, 1, 0.5),
        (0, 2, 7.0),
        (1, 1, 0.5),
    ]


def test_a_line_that_is_being_written_and_a_missing_file_are_no_rounds(
    tmp_path: Path,
) -> None:
    path = written(tmp_path / "m", FIRST)
    path.write_text(path.read_text() + '{"stage": 0, "rou')
    assert len(read_records(path)) == 1
    assert read_records(tmp_path / "none") == []


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"round": "third"}, "'round': Input should be a valid integer"),
        ({"clients": [1]}, "'clients': Input should be a valid dictionary"),
        ({"clients": {"0": {}}}, r"it lacks 'clients\.0\.num_labeled'"),
        ({"notices": [{"client": 1}]}, "it lacks 'notices"),
        ({"accuracy": "high"}, "'test.accuracy': Input should be a valid number"),
    ],
)
def test_a_damaged_line_is_named_with_what_is_wrong(
    change: dict[str, Any], told: str, tmp_path: Path
) -> None:
    path = written(tmp_path / "m", FIRST, FIRST | change)
    with pytest.raises(StorageError, match=f"FS1104 line 2 .*{told}") as raised:
        read_records(path)
    assert "\n" not in str(raised.value)


def test_the_hash_of_a_run_does_not_see_what_was_added_about_the_guard() -> None:
    then = WHOLE.as_json()
    del then["guard"], then["notices"][0]["part"]
    assert timeless(then) == timeless(WHOLE.as_json())
    then["notices"] = then["notices"][1:]
    assert timeless(then) != timeless(WHOLE.as_json())


def test_a_record_that_is_no_record_is_a_value_error_of_one_line() -> None:
    with pytest.raises(ValueError, match=r"^it lacks 'stage'$"):
        record_of({"round": 1})


def test_groups_come_back_and_a_record_without_them_does_not_name_them(
    tmp_path: Path,
) -> None:
    assert "groups" not in WHOLE.as_json()
    groups = (
        GroupRecord((0, 1, 2), (0, 1, 2), 0.5, 1.25, 1.0),
        GroupRecord((3, 4, 5), (), 0.0, None, 0.0),
    )
    grouped = replace(WHOLE, groups=groups)
    assert read_records(written(tmp_path / "m", grouped.as_json())) == [grouped]
