"""Records: what is kept of a run, and the score that is read from it."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.evidence.made import record, scores_of

from fedsemi.client.evaluate import SCORES, Metrics
from fedsemi.client.findings import Validation
from fedsemi.errors import StorageError
from fedsemi.evidence.jobs import Plan
from fedsemi.evidence.records import (
    by_client,
    curves,
    cuts,
    read_metrics,
    read_records,
    score,
    thinned,
    write_record,
)
from fedsemi.objectives.calibration import Calibration
from fedsemi.runs.records import ClientRecord, Cut, Notice, RoundRecord


def line(round: int, accuracy: float | None, **more: Any) -> RoundRecord:
    """Make the record of a round of the first stage."""
    test = None if accuracy is None else scored(accuracy)
    return replace(RoundRecord(0, "semianagg", round, 9, 1.0, test=test), **more)


def scored(accuracy: float) -> Metrics:
    return Metrics(accuracy, accuracy - 0.2, accuracy, accuracy, accuracy, ())


def test_the_score_is_the_mean_of_the_last_five_tests_in_percent() -> None:
    made = record(0.0, 0.1, 0.2, 0.3, 0.4, 0.5)
    assert score(made, "accuracy") == pytest.approx(30)  # 10 … 50, without the 0
    assert score(made, "balanced_accuracy") == pytest.approx(20)


def test_fewer_tests_than_five_are_all_that_count() -> None:
    assert score(record(0.2, 0.6), "accuracy") == pytest.approx(40)


def test_a_test_without_the_score_does_not_take_a_place_of_the_five() -> None:
    assert score(record(0.1, None, 0.3), "accuracy") == pytest.approx(20)
    assert score(record(None, None), "accuracy") is None


def test_scores_of_the_warm_up_are_not_part_of_the_score() -> None:
    warm, last = scores_of(0.9, 0.9, stage=0), scores_of(0.2, 0.4, stage=1)
    both = {"rounds": {key: warm[key] + last[key] for key in warm}}
    assert score(both, "accuracy") == pytest.approx(30)


def test_a_probe_has_a_score_of_its_own_or_none() -> None:
    probed = record(0.9, probe={"labeled": {"accuracy": 0.25, "auc": None}})
    assert score(probed, "accuracy", "probe-labeled") == 25
    assert score(probed, "auc", "probe-labeled") is None
    assert score(probed, "accuracy", "probe-all") is None
    assert score(record(0.9, probe=None), "accuracy", "probe-all") is None


def test_only_rounds_that_were_tested_are_kept_rounded_to_four_digits() -> None:
    kept = curves([line(0, None), line(1, 0.123456), line(2, None), line(3, 0.5)])
    assert kept["round"] == [1, 3] and kept["stage"] == [0, 0]
    assert kept["accuracy"] == [0.1235, 0.5]
    assert kept.keys() == {"stage", "round", *SCORES}


def test_the_running_mean_is_kept_beside_the_model_where_it_was_tested() -> None:
    kept = curves([line(0, 0.5), line(1, 0.5, running_mean=scored(0.6))])
    assert kept["running_mean.accuracy"] == [None, 0.6]
    assert kept["running_mean.balanced_accuracy"] == [None, 0.4]


def test_what_was_held_out_is_kept_where_every_test_has_it() -> None:
    seen = Validation(9, 0.8, 0.5, (1.0, None, 0.5), 0.05, Calibration((), ()))
    kept = curves([line(0, 0.5, validation=seen)])
    assert kept["held_out.accuracy"] == [0.8]
    assert kept["held_out.balanced_accuracy"] == [0.75]  # of the classes held out
    assert "held_out.accuracy" not in curves([line(0, 0.5)])


def client(contribution: float, unlabeled: int = 5, pseudo: int = 1) -> ClientRecord:
    return ClientRecord(0, unlabeled, pseudo, contribution)


def test_clients_are_kept_of_the_last_stage_labeled_ones_by_their_mean_alone() -> None:
    lines = [
        line(9, None, clients={1: client(1.0)}),
        line(0, None, stage=1, clients={0: client(0.5, 0), 1: client(0.5)}),
        line(1, None, stage=1, clients={0: client(0.7, 0), 1: client(0.3)}),
    ]
    found = by_client(lines)
    assert found["round"] == [0, 1]
    assert found["contribution"] == {"1": [0.5, 0.3]}
    assert found["num_pseudo"] == {"1": [1, 1]}
    assert found["mean_contribution"] == {"0": 0.6, "1": 0.4}


def test_a_client_that_was_silent_in_a_round_gave_nothing_to_it() -> None:
    lines = [line(0, None, clients={1: client(0.8)}), line(1, None, clients={})]
    found = by_client(lines)
    assert found["contribution"] == {"1": [0.8, None]}
    assert found["mean_contribution"] == {"1": 0.4}


@given(st.integers(0, 200), st.integers(2, 60))
def test_what_is_thinned_keeps_order_both_ends_and_the_number_asked_for(
    length: int, points: int
) -> None:
    kept = thinned(range(length), points)
    assert len(kept) == min(length, points)
    assert kept == sorted(set(kept))
    if length:
        assert kept[0] == 0 and kept[-1] == length - 1
    gaps = {b - a for a, b in pairwise(kept)}
    assert not gaps or max(gaps) - min(gaps) <= 1, "evenly"


def test_a_record_has_one_key_a_line_and_comes_back_as_it_was(
    plan: Plan, tmp_path: Path
) -> None:
    made = {"arm": "grün", "rounds": {"accuracy": [0.5, None]}, "seed": 1}
    write_record(tmp_path, plan.jobs[0], made)
    text = plan.record_path(plan.jobs[0]).read_text()
    assert len(text.splitlines()) == len(made) + 2
    assert json.loads(text) == made
    assert read_records(tmp_path) == {plan.jobs[0].key: made}


def test_a_folder_without_runs_has_no_records(tmp_path: Path) -> None:
    assert read_records(tmp_path) == {}


def test_what_the_guard_cut_is_kept_by_stage_round_and_client() -> None:
    told = (
        Notice(None, 0, "FS2202", "no client passed the confidence threshold"),
        Cut(4, 0, "FS2107", "step shortened to 33.3%", 1 / 3),
    )
    assert cuts([line(1, None, notices=told), line(2, None)]) == [
        {"stage": 0, "round": 1, "client": 4, "code": "FS2107", "part": 0.3333}
    ]


@pytest.mark.parametrize("content", [None, b'{"round": 0', b"[1]\n"])
def test_a_log_that_holds_no_rounds_is_named(
    content: bytes | None, tmp_path: Path
) -> None:
    if content is not None:
        (tmp_path / "metrics.jsonl").write_bytes(content)
    with pytest.raises(StorageError, match=r"FS110[14] .*metrics\.jsonl'"):
        read_metrics(tmp_path)
