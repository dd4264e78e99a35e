"""CR-6 and CR-7, LD-1 and LD-4: who may go on, and what a long run leaves behind."""

from __future__ import annotations

import copy
import os
import tempfile
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from fedsemi.config.experiment import make_experiment
from fedsemi.errors import CannotCreate, Mismatch, RunInUse
from fedsemi.runs.checkpoint import Cursor
from fedsemi.runs.folder import RunFolder
from fedsemi.runs.lock import RunLock
from fedsemi.runs.manifest import check_same_run, checkpoint_identity
from fedsemi.simulation.build import build

CURSOR = Cursor(3, 1, 2, 0, "")
"""In the second stage, which has three rounds, after its second round."""

REFUSED: list[tuple[str, Any]] = [
    ("seed", 4),
    ("data.name", "digits"),
    ("data.image_size", 10),
    ("data.train_limit", 47),
    ("data.test_limit", 19),
    ("data.flip", False),
    ("partition.scheme", "iid"),
    ("partition.num_clients", 3),
    ("partition.labeled_clients", 2),
    ("partition.dirichlet_alpha", 0.9),
    ("partition.min_size", 9),
    ("partition.seed", 8),
    ("model.name", "simple-cnn"),
    ("model.width", 3),
    ("local.epochs", 2),
    ("local.batch_size", 17),
    ("local.lr_labeled", 0.1),
    ("local.lr_unlabeled", 0.1),
    ("local.momentum", 0.8),
    ("local.keep_momentum", False),
    ("local.weight_decay", 0.1),
    ("local.clip_norm", 4.0),
    ("local.clip", "all"),
    ("local.loss", "balanced-softmax"),
    ("evaluation.every", 2),
    ("stages.0.rounds", 2),
    ("stages.0.method", "fedavg"),
    ("stages.1.rounds", 1),
    ("stages.1.rounds", 2),
    ("stages.1.method", "fedavg-semi"),
    ("stages.1.labeled_share", 0.4),
    ("stages.1.rule", "released"),
    ("stages.1.local.epochs", 2),
    ("start", "model.safetensors"),
    ("device", "cuda"),
    ("data_sha256", "0" * 64),
    ("partition_sha256", "0" * 64),
    ("torch", "1.0"),
    ("fedsemi_sha256", "0" * 64),
    ("cpu", "AVX9"),
    ("threads_per_worker", 2),
    ("anchor_sha256.1", "0" * 64),
]
ALLOWED = [("stages.1.rounds", 3), ("stages.1.rounds", 4), ("stages.1.rounds", 500)]


def changed(identity: dict[str, Any], path: str, value: Any) -> dict[str, Any]:
    result = copy.deepcopy(identity)
    *parents, last = path.split(".")
    place = result if parents[:1] != ["stages"] and path in result else None
    if place is None:
        place = result["config"] if path.split(".")[0] != "anchor_sha256" else result
    for name in parents:
        place = place[int(name)] if isinstance(place, list) else place[name]
    if isinstance(place, list):
        place[int(last)] = value
    else:
        place[last] = value
    return result


def test_only_changes_that_alter_no_done_round_are_allowed(
    simulation: Any, promise: Any
) -> None:
    identity = checkpoint_identity(simulation)
    failed = 0
    for path, value in REFUSED:
        try:
            check_same_run(identity, changed(identity, path, value), CURSOR)
            failed += 1
        except Mismatch as error:
            failed += path not in str(error)
    for path, value in ALLOWED:
        check_same_run(identity, changed(identity, path, value), CURSOR)
    promise("CR-6 changed settings, data, software: right answer", 45, failed)
    assert len(REFUSED) + len(ALLOWED) == 45 and failed == 0


def test_a_changed_version_of_torch_has_its_own_code(simulation: Any) -> None:
    identity = checkpoint_identity(simulation)
    with pytest.raises(Mismatch, match=r"FS1302.*torch 1.0 →"):
        check_same_run(identity | {"torch": "1.0"}, identity, CURSOR)


def test_of_many_that_start_at_once_one_gets_the_folder(
    tmp_path: Path, times: Any, promise: Any
) -> None:
    rounds, each = times(50, 500), 4
    failed = 0

    def take(folder: Path) -> RunLock | None:
        try:
            return RunLock(folder)
        except RunInUse as error:
            assert error.exit_code == 75
            return None

    with ThreadPoolExecutor(each) as pool:
        for number in range(rounds):
            folder = tmp_path / str(number)
            folder.mkdir()
            won = [lock for lock in pool.map(take, [folder] * each) if lock]
            failed += len(won) != 1
            won[0].release()
    promise("CR-7 concurrent starts, exactly one wins", rounds, failed)
    assert failed == 0


def test_the_second_process_learns_who_holds_the_folder(
    simulation: Any, tmp_path: Path
) -> None:
    with (
        RunFolder.new(tmp_path, simulation),
        pytest.raises(RunInUse, match=f"FS1401 .* in use by pid {os.getpid()} since"),
    ):
        RunFolder.resume(tmp_path, simulation)


def test_an_unfinished_run_is_not_overwritten_unasked(
    toy: Any, go: Any, tmp_path: Path
) -> None:
    go(tmp_path, toy.simulation)
    (tmp_path / "summary.json").unlink()
    with pytest.raises(CannotCreate, match=r"FS1402 .*--resume"):
        RunFolder.new(tmp_path, toy.simulation)
    RunFolder.new(tmp_path, toy.simulation, overwrite=True).close()


def test_a_longer_run_continues_a_finished_one_to_the_same_bits(
    simulation: Any, content: dict[str, Any], go: Any, tmp_path: Path
) -> None:
    longer = copy.deepcopy(content)
    longer["stages"][1]["rounds"] = 5
    more = build(make_experiment(longer))
    go(tmp_path / "a", simulation)
    extended = go(tmp_path / "a", more)
    whole = go(tmp_path / "b", more)
    for name in ("model_sha256", "metrics_sha256"):
        assert extended[name] == whole[name]


@pytest.mark.slow
@pytest.mark.parametrize("workers", [1, 2, 4])
def test_a_run_resumed_in_workers_ends_in_the_same_bits(
    workers: int,
    simulation: Any,
    content: dict[str, Any],
    go: Any,
    tmp_path: Path,
    times: Any,
    promise: Any,
) -> None:
    shorter = copy.deepcopy(content)
    shorter["stages"][1]["rounds"] = 1
    begun = build(make_experiment(shorter))
    whole = go(tmp_path / "whole", simulation)
    failed, runs = 0, times(1, 7)
    for number in range(runs):
        path = tmp_path / str(number)
        go(path, begun, workers=workers)
        resumed = go(path, simulation, workers=workers)
        failed += any(
            resumed[name] != whole[name] for name in ("model_sha256", "metrics_sha256")
        )
    promise(f"LD-4 runs with {workers} workers, one digest", runs, failed)
    assert failed == 0 and not mailboxes()


def test_a_finished_run_is_replaced_only_if_that_is_asked_for(
    toy: Any, go: Any, tmp_path: Path
) -> None:
    go(tmp_path, toy.simulation)
    before = (tmp_path / "model.safetensors").read_bytes()
    (tmp_path / "model.onnx").write_bytes(b"the old model")
    with pytest.raises(CannotCreate, match=r"FS1402 .*a finished run; choose another"):
        RunFolder.new(tmp_path, toy.simulation)
    assert (tmp_path / "model.safetensors").read_bytes() == before
    RunFolder.new(tmp_path, toy.simulation, overwrite=True).close()
    assert not (tmp_path / "model.onnx").exists()


def mailboxes() -> list[Path]:
    places = Path("/dev/shm"), Path(tempfile.gettempdir())
    return [path for p in places for path in p.glob(f"fedsemi-{os.getpid()}-*")]


def rss() -> int:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def resources() -> dict[str, int]:
    tasks = Path("/proc/self/task").iterdir()
    children = [(task / "children").read_text().split() for task in tasks]
    return {
        "descriptors": len(os.listdir("/proc/self/fd")),
        "threads": threading.active_count(),
        "children": sum(map(len, children)),
        "mailboxes": len(mailboxes()),
    }


def test_memory_files_and_threads_do_not_grow_with_the_rounds(
    content: dict[str, Any], go: Any, tmp_path: Path, times: Any, promise: Any
) -> None:
    first, last = times(10, 100), times(50, 1000)
    many = copy.deepcopy(content)
    many["stages"] = [{"method": "semianagg", "rounds": 1}]
    for rounds in (1, first):  # the second resumes, which loads what the last one needs
        many["stages"][0]["rounds"] = rounds
        go(tmp_path, build(make_experiment(many)))
    before, memory = resources(), rss()
    many["stages"][0]["rounds"] = last
    go(tmp_path, build(make_experiment(many)))
    grown = rss() - memory
    failed = int(resources() != before) + int(grown > 10e6)
    promise("LD-1 rounds without growth of memory, files, children", last, failed)
    log = (tmp_path / "metrics.jsonl").stat().st_size
    assert failed == 0, f"{grown / 1e6:.1f} MB more, {before} became {resources()}"
    assert log / last <= 1000 + 2 * 700
