"""Checkpoints: one file holds server, client memories and the place in the run.

FSCK1 is a header of 64 bytes (magic, schema, lengths, SHA-256 of all the rest) and a
payload: a JSON manifest, then one safetensors blob for the server and one per client.
Seeds are hashes of what they are for, so there is no random state to keep.
"""

from __future__ import annotations

import hashlib
import json
import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from safetensors.torch import load
from torch import Tensor

from fedsemi.errors import StorageError
from fedsemi.flat import Flat
from fedsemi.messages import Memory, Weights
from fedsemi.runs.state_codec import decode, decode_tensors, encode
from fedsemi.state import ServerState
from fedsemi.storage import replacing
from fedsemi.text.json_text import parsed
from fedsemi.weights import num_bytes

S = TypeVar("S", bound=ServerState)

MAGIC = b"FSCK1\0\0\0"
SCHEMA = 1
READABLE = (1,)
_HEADER = struct.Struct("<8sIIQQ32s")  # magic, schema, unused, manifest, payload, sha
_CHUNK = 1 << 20
_ROOM = 4096
"""Bytes reserved per client for names and shapes, beside the tensors themselves."""


@dataclass(frozen=True)
class Cursor:
    """How far a run has come."""

    number: int
    """Rounds done in all stages; names the file."""
    stage: int
    round: int
    """Rounds done in this stage."""
    log_bytes: int
    """Length of metrics.jsonl."""
    log_sha256: str
    """Hash of these bytes."""


@dataclass(frozen=True)
class Checkpoint:
    """An opened checkpoint; the clients' memories are read when they are asked for."""

    path: Path
    cursor: Cursor
    identity: Mapping[str, Any]
    sha256: str
    _state: Any
    _server: Mapping[str, Tensor]
    _blobs: Mapping[int, tuple[int, int]]

    @property
    def weights(self) -> Weights:
        """The global model."""
        return decode_tensors(self._state["fields"]["weights"], self._server)

    @property
    def running_mean(self) -> Weights:
        """A running mean of the global model; empty if none is kept."""
        kept = self._state["fields"].get("running_mean")
        return {} if kept is None else decode_tensors(kept, self._server)

    @property
    def spent(self) -> float:
        """What all rounds so far have cost; nothing before there was an account."""
        return float(self._state["fields"].get("spent", 0.0))

    @property
    def noised(self) -> int:
        """Rounds so far whose model has noise; none before they were counted."""
        return int(self._state["fields"].get("noised", 0))

    def state(self, like: S) -> S:
        """Return the server's state, which is of the type of `like`."""
        return decode(self._state, self._server, like)

    def rewrite(self, path: Path, identity: Mapping[str, Any]) -> None:
        """Write the same state as a checkpoint of another run."""
        memories = self.memories
        _write(
            path,
            self.cursor,
            identity,
            (self._state, self._server),
            list(memories),
            memories.__getitem__,
        )

    @property
    def memories(self) -> Mapping[int, Memory]:
        """What each client remembered."""
        return _Memories(self.path, self._blobs)


class _Memories(Mapping[int, Memory]):
    """Client memories in a file, one read at a time."""

    def __init__(self, path: Path, blobs: Mapping[int, tuple[int, int]]) -> None:
        self._path = path
        self._blobs = blobs

    def __getitem__(self, client: int) -> Memory:
        return _read_blob(self._path, *self._blobs[client])

    def __iter__(self) -> Iterator[int]:
        return iter(self._blobs)

    def __len__(self) -> int:
        return len(self._blobs)


def write_checkpoint(
    path: Path,
    cursor: Cursor,
    identity: Mapping[str, Any],
    state: ServerState,
    clients: Sequence[int],
    memory: Callable[[int], Memory],
) -> None:
    """Write a checkpoint whole or not at all; one client at a time is in memory."""
    server: dict[str, Tensor] = {}
    tree = encode(state, server)
    _write(path, cursor, identity, (tree, server), clients, memory)


def _write(
    path: Path,
    cursor: Cursor,
    identity: Mapping[str, Any],
    state: tuple[Any, Mapping[str, Tensor]],
    clients: Sequence[int],
    memory: Callable[[int], Memory],
) -> None:
    tree, server = state
    size = _size(server) + sum(_size(memory(client)) for client in clients)
    # It holds what clients remember, pseudo-labels of single images among it.
    with replacing(path, _HEADER.size + size, private=True) as sink:
        sink.write(bytes(_HEADER.size))
        sha = hashlib.sha256()
        blobs: dict[str, tuple[int, int]] = {}

        def add(name: str, tensors: Mapping[str, Tensor]) -> None:
            # What workers left is in one block already, and goes from file to file.
            flat, begin = Flat.of(tensors), sink.written
            for piece in (flat.layout.header, flat.block.numpy().data):
                sha.update(piece)
                sink.write(piece)
            blobs[name] = (begin, sink.written - begin)

        add("server", server)
        for client in clients:
            if kept := memory(client):
                add(str(client), kept)
        manifest = json.dumps(
            {
                "cursor": vars(cursor),
                "identity": identity,
                "state": tree,
                "blobs": blobs,
            }
        ).encode()
        sha.update(manifest)
        sink.write(manifest)
        fields = (MAGIC, SCHEMA, 0, len(manifest), sink.written - _HEADER.size)
        sha.update(_HEADER.pack(*fields, bytes(32)))
        sink.rewrite_start(_HEADER.pack(*fields, sha.digest()))


def read_checkpoint(path: Path) -> Checkpoint:
    """Open a checkpoint, every byte of which is checked first."""
    length, sha256 = _verified(path)
    try:
        with path.open("rb") as file:
            file.seek(-length, 2)
            manifest = parsed(file.read())
        blobs = {name: (at, size) for name, (at, size) in manifest["blobs"].items()}
        server = _read_blob(path, *blobs.pop("server"))
        return Checkpoint(
            path,
            Cursor(**manifest["cursor"]),
            manifest["identity"],
            sha256,
            manifest["state"],
            server,
            {int(client): place for client, place in blobs.items()},
        )
    except OSError as error:
        raise StorageError(f"cannot read '{path}': {error.strerror}") from None
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise _damaged(path, f"its manifest makes no sense: {error}") from None


def _verified(path: Path) -> tuple[int, str]:
    """Check header and hash; return the manifest's length and the hash."""
    try:
        with path.open("rb") as file:
            head = file.read(_HEADER.size)
            if len(head) < _HEADER.size:
                raise _damaged(path, "it is cut short")
            magic, schema, unused, length, payload, expected = _HEADER.unpack(head)
            if magic != MAGIC:
                raise _damaged(path, "it does not begin like a checkpoint")
            if path.stat().st_size != _HEADER.size + payload or length > payload:
                raise _damaged(path, "it has not the length that it states")
            sha = hashlib.sha256()
            while chunk := file.read(_CHUNK):
                sha.update(chunk)
    except OSError as error:
        raise StorageError(f"cannot read '{path}': {error.strerror}") from None
    sha.update(_HEADER.pack(magic, schema, unused, length, payload, bytes(32)))
    if sha.digest() != expected:
        raise _damaged(path, "sha256 mismatch")
    if schema not in READABLE:
        raise StorageError(
            f"'{path}' has checkpoint schema {schema}, this version reads "
            f"{', '.join(map(str, READABLE))}; use the fedsemi version that wrote it",
            code="FS1103",
        )
    return length, sha.hexdigest()


def _read_blob(path: Path, at: int, size: int) -> dict[str, Tensor]:
    with path.open("rb") as file:
        file.seek(at)
        return load(file.read(size))


def _size(tensors: Mapping[str, Tensor]) -> int:
    return _ROOM + num_bytes(tensors)


def _damaged(path: Path, why: str) -> StorageError:
    return StorageError(f"'{path}' is damaged ({why})", code="FS1102")
