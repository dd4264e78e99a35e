"""CR-4, CR-5, CR-10: damaged files are seen, a full disk loses nothing."""

from __future__ import annotations

import errno
import os
import random
import struct
from pathlib import Path
from typing import Any

import pytest
import torch

import fedsemi.storage
from fedsemi.errors import StorageError
from fedsemi.runs.checkpoint import MAGIC, read_checkpoint, write_checkpoint
from fedsemi.runs.generations import Generations

GOLDEN = Path(__file__).parent / "golden" / "schema-1.fsck"


def save(folder: Path, number: int, made: Any) -> Path:
    cursor, state, memories = made(number)
    path = Generations(folder).path(number)
    write_checkpoint(path, cursor, {}, state, sorted(memories), memories.__getitem__)
    return path


def flipped(data: bytes, rng: random.Random) -> bytes:
    at = rng.randrange(len(data))
    return data[:at] + bytes([data[at] ^ (1 << rng.randrange(8))]) + data[at + 1 :]


def cut(data: bytes, rng: random.Random) -> bytes:
    return data[: rng.randrange(len(data))]


def zeroed(data: bytes, rng: random.Random) -> bytes:
    at = rng.randrange(len(data) // 4096) * 4096
    return data[:at] + bytes(4096) + data[at + 4096 :]


@pytest.mark.parametrize(
    ("name", "damage", "fast", "torture"),
    [
        ("bit flips", flipped, 90, 1000),
        ("truncations", cut, 90, 1000),
        ("zero-filled pages", zeroed, 20, 200),
    ],
)
def test_damage_is_seen_and_the_checkpoint_before_is_used(
    name: str,
    damage: Any,
    fast: int,
    torture: int,
    made: Any,
    tmp_path: Path,
    times: Any,
    promise: Any,
) -> None:
    rng = random.Random(4)
    save(tmp_path, 40, made)
    newest = save(tmp_path, 41, made)
    data = newest.read_bytes()
    tried = failed = 0
    for _ in range(times(fast, torture)):
        newest.write_bytes(damage(data, rng))
        found, problems = Generations(tmp_path).newest()
        seen = [problem.code for problem in problems] == ["FS1102"]
        failed += not (seen and found is not None and found.cursor.number == 40)
        tried += 1
    promise(f"CR-4 {name} of a checkpoint are seen", tried, failed)
    assert failed == 0


def test_if_no_checkpoint_is_sound_all_are_named_and_none_is_deleted(
    made: Any, tmp_path: Path
) -> None:
    for number in (40, 41):
        path = save(tmp_path, number, made)
        path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(StorageError, match=r"ckpt-000041.*ckpt-000040") as raised:
        Generations(tmp_path).newest()
    assert raised.value.exit_code == 74
    assert len(list(tmp_path.glob("ckpt-*"))) == 2


def test_a_copy_of_another_checkpoint_under_a_new_name_is_seen(
    made: Any, tmp_path: Path
) -> None:
    old = save(tmp_path, 40, made)
    Generations(tmp_path).path(41).write_bytes(old.read_bytes())
    found, problems = Generations(tmp_path).newest()
    assert found is not None and found.cursor.number == 40
    assert "copy" in str(problems[0])


def test_a_full_disk_ends_the_run_cleanly_and_it_can_be_continued(
    victim: Any,
    go: Any,
    full_disk: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    promise: Any,
) -> None:
    rng = random.Random(5)
    tried = failed = 0
    codes = [errno.ENOSPC, errno.EIO, errno.EFBIG]
    while tried < victim.times(4, 200):
        path = tmp_path / f"run-{tried}"
        full_disk(rng.randrange(200_000), rng.choice(codes))
        try:
            go(path, victim.simulation)
            clean = True
        except StorageError as error:
            clean = error.exit_code == 74 and error.code == "FS1201"
        clean &= not list(path.glob(".*.fsck.*"))
        monkeypatch.undo()
        assert not hasattr(fedsemi.storage.os, "_before")
        summary = go(path, victim.simulation)
        same = all(summary[name] == sha for name, sha in victim.undisturbed.items())
        failed += not (clean and same)
        tried += 1
    promise("CR-5 disk full: clean exit, then the same bits", tried, failed)
    assert failed == 0


def test_a_failed_write_keeps_the_old_checkpoint_and_leaves_no_part(
    full_disk: Any, made: Any, tmp_path: Path, times: Any, promise: Any
) -> None:
    path = save(tmp_path, 1, made)
    before, rng = path.read_bytes(), random.Random(6)
    tried = failed = 0
    for _ in range(times(100, 1000)):
        full_disk(rng.randrange(len(before)))
        with pytest.raises(StorageError, match=r"FS1201.*no space.*nothing"):
            save(tmp_path, 1, made)
        failed += path.read_bytes() != before or len(list(tmp_path.iterdir())) != 1
        tried += 1
    promise("CR-5 write fails at a random byte, old file stays", tried, failed)
    assert failed == 0


def test_without_room_nothing_is_even_begun(
    failing: Any, made: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = save(tmp_path, 1, made)
    before, calls = path.read_bytes(), []

    def no_room(name: str, arguments: tuple[Any, ...]) -> None:
        calls.append(name)
        if name == "posix_fallocate":
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(fedsemi.storage, "os", failing(no_room))
    with pytest.raises(StorageError, match=r"FS1201.*no space.*needed"):
        save(tmp_path, 1, made)
    assert "write" not in calls
    assert path.read_bytes() == before and list(tmp_path.iterdir()) == [path]


def test_the_golden_checkpoint_of_schema_1_still_loads(made: Any) -> None:
    found = read_checkpoint(GOLDEN)
    _, state, memories = made(12)
    again = found.state(like=state)
    assert found.cursor.number == again.round == 12
    assert torch.equal(again.weights["w"], state.weights["w"])
    assert torch.equal(found.memories[2]["momentum"], memories[2]["momentum"])


def test_an_unknown_schema_is_named(made: Any, tmp_path: Path) -> None:
    import hashlib

    path = save(tmp_path, 1, made)
    data = bytearray(path.read_bytes())
    data[8:12] = struct.pack("<I", 9)
    sha = hashlib.sha256(data[64:] + data[:32] + bytes(32))
    data[32:64] = sha.digest()
    path.write_bytes(data)
    assert data.startswith(MAGIC)
    with pytest.raises(StorageError, match=r"schema 9, this version reads 1") as raised:
        Generations(tmp_path).newest()
    assert raised.value.code == "FS1103"
