"""IN-13 and IN-16: what is no model is refused, quickly and without running it."""

from __future__ import annotations

import errno
import io
import json
import os
import pickle
import struct
import time
from pathlib import Path
from typing import Any

import pytest
import torch

from fedsemi.data.published import read_published
from fedsemi.errors import FedSemiError, StorageError
from fedsemi.storage import read_weights, sync, write_weights


class Gadget:
    """Runs something as soon as it is unpickled."""

    def __init__(self, call: Any, *arguments: Any) -> None:
        self._reduced = call, arguments

    def __reduce__(self) -> Any:
        return self._reduced


def gadgets(mark: Path) -> list[bytes]:
    """Make 50 files that make another one when they are loaded."""
    calls = [
        Gadget(os.mkdir, str(mark)),
        Gadget(exec, f"import os; os.mkdir({str(mark)!r})"),
        Gadget(eval, f"__import__('os').mkdir({str(mark)!r})"),
        Gadget(os.system, f"mkdir '{mark}'"),
        Gadget(os.makedirs, str(mark)),
    ]
    shapes = [
        lambda g: g,
        lambda g: {"data_partition": g},
        lambda g: [1, 2, g],
        lambda g: ({0: [0]}, g),
        lambda g: {"weight": torch.zeros(1), "more": g},
    ]
    files = []
    for call in calls:
        for shape in shapes:
            files.append(pickle.dumps(shape(call), protocol=2 + len(files) % 4))
            buffer = io.BytesIO()
            torch.save(shape(call), buffer)
            files.append(buffer.getvalue())
    return files


def test_fifty_pickles_are_refused_and_none_of_them_runs(
    tmp_path: Path, promise: Any
) -> None:
    mark, path = tmp_path / "ran", tmp_path / "old.pth"
    failed, files = 0, gadgets(mark)
    pickle.loads(files[0])
    assert mark.exists()  # they are what they seem to be
    mark.rmdir()
    for content in files:
        path.write_bytes(content)
        for read in (read_weights, read_published):
            try:
                read(path)
                failed += 1
            except FedSemiError as error:
                failed += error.code not in ("FS1109", "FS3012")
        failed += mark.exists()
    promise("IN-13 pickles that would run code are refused", len(files), failed)
    assert len(files) == 50 and failed == 0


def test_a_pickle_is_called_one(tmp_path: Path) -> None:
    path = tmp_path / "old.pth"
    torch.save({"w": torch.zeros(3)}, path)
    with pytest.raises(StorageError, match=r"FS1109 .*Python objects.*safetensors"):
        read_weights(path)


def many_tensors(count: int, name: int = 1) -> bytes:
    header = {
        f"{'x' * name}{n}": {"dtype": "U8", "shape": [0], "data_offsets": [0, 0]}
        for n in range(count)
    }
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text


def test_twenty_bombs_are_refused_at_once(tmp_path: Path, promise: Any) -> None:
    files = [
        *(many_tensors(5001 + 500 * n) for n in range(5)),
        *(many_tensors(900, 1200 + 100 * n) for n in range(5)),
        *(struct.pack("<Q", 2**n) + b"{" for n in (21, 32, 63)),
        *(struct.pack("<Q", n) + b"{}" for n in (0, 3, 10**6)),
        many_tensors(3)[:-1],
        b"",
        b"\x01",
        bytes(4096),
    ]
    failed, path = 0, tmp_path / "bomb.safetensors"
    for content in files:
        path.write_bytes(content)
        started = time.process_time()
        try:
            read_weights(path)
            failed += 1
        except StorageError as error:
            failed += error.code != "FS1104"
        failed += time.process_time() - started > 0.2
    promise("IN-16 bombs of safetensors are refused within 0.2 s", len(files), failed)
    assert len(files) == 20 and failed == 0


def test_a_model_of_many_tensors_is_read(tmp_path: Path) -> None:
    weights = {f"layer.{n}.weight": torch.zeros(2) for n in range(1000)}
    write_weights(tmp_path / "model.safetensors", weights)
    assert read_weights(tmp_path / "model.safetensors").keys() == weights.keys()


def test_a_disk_that_cannot_sync_is_an_error_of_storage(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(descriptor: int) -> None:
        raise OSError(errno.EIO, "input/output error")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(StorageError, match=r"FS1201 cannot write .*input/output"):
        sync(tmp_path)
