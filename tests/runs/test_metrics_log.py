"""The log of a run: hashed as it grows, cut back to what a checkpoint knows."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from fedsemi.client.evaluate import Metrics
from fedsemi.errors import StorageError
from fedsemi.runs.metrics_log import MetricsLog, timeless
from fedsemi.runs.records import ClientRecord, RoundRecord


def record(round: int, seconds: float = 1.0, rounds: int = 3) -> RoundRecord:
    test = Metrics(0.5, 0.5, None, 0.5, 0.5, (0.5, None))
    clients = {4: ClientRecord(0, 5, 2, 1.0)}
    return RoundRecord(
        0, "semianagg", round, rounds, seconds, test=test, clients=clients
    )


@pytest.fixture
def log(tmp_path: Path) -> MetricsLog:
    log = MetricsLog.new(tmp_path / "metrics.jsonl")
    log.append(record(1, seconds=1.0))
    log.append(record(2, seconds=2.0))
    return log


def test_a_log_knows_size_and_hash_of_its_file(log: MetricsLog) -> None:
    content = log.path.read_bytes()
    assert content.count(b"\n") == 2
    assert log.size == len(content)
    assert log.sha256 == hashlib.sha256(content).hexdigest()


def test_a_new_log_is_empty_whatever_lay_there(tmp_path: Path) -> None:
    (tmp_path / "m").write_bytes(b"old\n")
    assert MetricsLog.new(tmp_path / "m").size == 0
    assert (tmp_path / "m").read_bytes() == b""


def test_lines_after_the_checkpoint_are_cut_off_and_written_again(
    log: MetricsLog,
) -> None:
    size, sha256, content = log.size, log.sha256, log.path.read_bytes()
    log.append(record(3))
    whole = log.path.read_bytes()
    again = MetricsLog.continued(log.path, size, sha256)
    assert log.path.read_bytes() == content
    again.append(record(3))
    assert log.path.read_bytes() == whole
    assert (again.sha256, again.digest) == (log.sha256, log.digest)
    assert [each.round for each in again.records] == [1, 2, 3]


@pytest.mark.parametrize("change", [b"", b"x", None], ids=["cut", "changed", "gone"])
def test_a_log_that_is_not_the_checkpoints_is_refused_and_left_alone(
    log: MetricsLog, change: bytes | None
) -> None:
    size, sha256 = log.size, log.sha256
    content = log.path.read_bytes()
    if change is None:
        log.path.unlink()
    else:
        log.path.write_bytes(content[:-2] + change)
    before = log.path.read_bytes() if log.path.exists() else None
    with pytest.raises(StorageError, match="FS1108"):
        MetricsLog.continued(log.path, size, sha256)
    assert (log.path.read_bytes() if log.path.exists() else None) == before


def test_runs_that_differ_in_nothing_but_time_have_one_digest(
    log: MetricsLog, tmp_path: Path
) -> None:
    slow = MetricsLog.new(tmp_path / "slow.jsonl")
    slow.append(record(1, seconds=9.0, rounds=40))
    slow.append(record(2, seconds=9.0))
    assert slow.digest == log.digest and slow.sha256 != log.sha256
    slow.append(record(3))
    assert slow.digest != log.digest


def test_the_order_of_keys_does_not_matter_to_a_digest() -> None:
    assert timeless({"a": 1, "b": 2}) == timeless({"b": 2, "a": 1, "seconds": 3})
    assert timeless({"a": 1}) != timeless({"a": 2})


def test_a_summary_keeps_scores_and_not_the_clients(log: MetricsLog) -> None:
    kept = log.records[0]
    assert kept.test is not None and kept.test.accuracy == 0.5 and not kept.clients
