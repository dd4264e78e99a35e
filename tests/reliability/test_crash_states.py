"""CR-2 and CR-3: whatever a crash leaves on disk, an old or the new state loads."""

from __future__ import annotations

import contextlib
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

import fedsemi.storage
from fedsemi.runs.checkpoint import Checkpoint, write_checkpoint
from fedsemi.runs.generations import Generations

PIECE = 256
"""Writes are cut so small, so that a crash may come inside of each."""


class Crash(BaseException):
    """The machine stops here."""


class CrashingDisk:
    """Files in memory, with what would be left of them after a power failure.

    Content that was not synced is lost, half lost or kept; names that were changed
    since the folder was synced are lost or kept.
    """

    O_WRONLY = O_CREAT = O_TRUNC = O_CLOEXEC = O_RDONLY = 0

    def __init__(self, files: dict[str, bytes]) -> None:
        self.names = {name: bytearray(data) for name, data in files.items()}
        self.lasting_names = dict(self.names)
        self.lasting_data = {id(d): bytes(d) for d in self.names.values()}
        self._open: list[bytearray | None] = []
        self._at: list[int] = []
        self.steps = 0
        self.crash_at: int | None = None

    def step(self) -> None:
        self.steps += 1
        if self.crash_at is not None and self.steps >= self.crash_at:
            raise Crash

    def getpid(self) -> int:
        return 1

    def open(self, path: Path, flags: int, mode: int = 0) -> int:
        self.step()
        is_folder = not Path(path).suffix
        self._open.append(None if is_folder else bytearray())
        self._at.append(0)
        if not is_folder:
            self.names[Path(path).name] = self._open[-1]  # type: ignore[assignment]
        return len(self._open) - 1

    def posix_fallocate(self, file: int, start: int, size: int) -> None:
        self.step()
        self._data(file).extend(bytes(size))

    def write(self, file: int, data: memoryview) -> int:
        self.step()
        piece = bytes(data[:PIECE])
        at = self._at[file]
        self._data(file)[at : at + len(piece)] = piece
        self._at[file] += len(piece)
        return len(piece)

    def pwrite(self, file: int, data: bytes, at: int) -> None:
        self.step()
        self._data(file)[at : at + len(data)] = data

    def ftruncate(self, file: int, size: int) -> None:
        self.step()
        del self._data(file)[size:]

    def fsync(self, file: int) -> None:
        self.step()
        if self._open[file] is None:
            self.lasting_names = dict(self.names)
        else:
            self.lasting_data[id(self._data(file))] = bytes(self._data(file))

    def close(self, file: int) -> None:
        self.step()

    def replace(self, old: Path, new: Path) -> None:
        self.step()
        self.names[new.name] = self.names.pop(old.name)

    def unlink(self, path: Path) -> None:
        self.step()
        if self.names.pop(Path(path).name, None) is None:
            raise FileNotFoundError(path)

    def _data(self, file: int) -> bytearray:
        data = self._open[file]
        assert data is not None
        return data

    def left_over(self, data: str, names: str) -> dict[str, bytes]:
        """Return the files after the crash."""
        entries = self.names if names == "kept" else self.lasting_names
        return {name: self._left(content, data) for name, content in entries.items()}

    def _left(self, content: bytearray, which: str) -> bytes:
        lasting = self.lasting_data.get(id(content), b"")
        if which == "kept" or bytes(content) == lasting:
            return bytes(content)
        return lasting if which == "lost" else bytes(content[: len(content) // 2])


VARIANTS = [(d, n) for d in ("kept", "lost", "half") for n in ("kept", "lost")]


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> Callable[[dict[str, bytes]], CrashingDisk]:
    def install(files: dict[str, bytes]) -> CrashingDisk:
        disk = CrashingDisk(files)
        monkeypatch.setattr(fedsemi.storage, "os", disk)
        return disk

    return install


def save(number: int, made: Any, folder: Path, generations: Generations) -> None:
    cursor, state, memories = made(number)
    clients = sorted(memories)
    target = generations.path(number)
    write_checkpoint(target, cursor, {}, state, clients, memories.__getitem__)
    generations.keep(number)


def load(files: dict[str, bytes], folder: Path) -> Checkpoint | None:
    for path in folder.iterdir():
        path.unlink()
    for name, data in files.items():
        (folder / name).write_bytes(data)
    return Generations(folder).newest()[0]


def is_whole(found: Checkpoint, made: Any) -> bool:
    """Tell whether server and clients are those of one and the same round."""
    _, state, memories = made(found.cursor.number)
    again = found.state(like=state)
    return (
        torch.equal(again.weights["w"], state.weights["w"])
        and again.contributions == state.contributions
        and again.clients == state.clients
        and all(
            torch.equal(found.memories[id]["momentum"], memories[id]["momentum"])
            for id in memories
        )
    )


def test_a_crash_at_every_file_operation_leaves_the_old_or_the_new_state(
    disk: Any, made: Any, tmp_path: Path, promise: Any
) -> None:
    generations = Generations(tmp_path)
    before: dict[str, bytes] = {}
    for number in (1, 2):
        drive = disk(before)
        save(number, made, tmp_path, generations)
        before = drive.left_over("lost", "lost")
    drive = disk(before)
    save(3, made, tmp_path, generations)
    last = drive.steps
    tried = failed = 0
    for step in range(1, last + 2):
        again = Generations(tmp_path)
        again._sound = [1, 2]
        drive = disk(before)
        drive.crash_at = step
        with contextlib.suppress(Crash):
            save(3, made, tmp_path, again)
        for variant in VARIANTS:
            found = load(drive.left_over(*variant), tmp_path)
            ok = found is not None and found.cursor.number in (2, 3)
            failed += not (ok and found is not None and is_whole(found, made))
            tried += 1
    promise("CR-2 crash at each file operation of a save", tried, failed)
    assert tried >= 60 and failed == 0


def test_after_any_history_of_crashes_the_newest_whole_state_loads(
    disk: Any, made: Any, tmp_path: Path, times: Any, promise: Any
) -> None:
    rng = random.Random(7)
    tried = failed = 0
    for _ in range(times(25, 1000)):
        files: dict[str, bytes] = {}
        durable = 0
        for number in range(1, 11):
            found = load(files, tmp_path)
            generations = Generations(tmp_path)
            generations.newest()
            drive = disk(files)
            drive.crash_at = rng.choice([None, rng.randrange(1, 60)])
            try:
                save(number, made, tmp_path, generations)
                durable = number
            except Crash:
                pass
            files = drive.left_over(*rng.choice(VARIANTS))
            found = load(files, tmp_path)
            newest = found.cursor.number if found else 0
            failed += newest < durable or (
                found is not None and not is_whole(found, made)
            )
            tried += 1
    promise("CR-3 random save/crash/load steps, never a mix", tried, failed)
    assert failed == 0
