"""Fetch the official files of a data set: go on after a cut, check, then give the name.

A file has its name only once it is whole and its sum is right; until then it lies
beside it as `NAME.part`, from which the next try goes on.
"""

from __future__ import annotations

import errno
import fcntl
import http.client
import os
import shutil
import ssl
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

from fedsemi.data.readers.files import sums_of
from fedsemi.data.readers.source import OfficialFile
from fedsemi.errors import DataError, Interrupted
from fedsemi.storage import cannot_write, make_folder, remove, sync

PATIENCE = 30.0
"""Seconds without a byte after which a connection counts as cut."""
TRIES = 5
"""Cuts in a row without a new byte that are borne."""
PAUSE = 1.0
"""Seconds before the next try."""
MOST = 20 << 30
"""Bytes after which a file is given up: a server may send for ever."""

_BLOCK = 1 << 17
_FLAGS = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
_CUTS = (http.client.HTTPException, ConnectionError, TimeoutError, ssl.SSLEOFError)
_PART, _NOT_THERE = 206, 416

Shown = Callable[[int, int | None], None]
"""Is told how many bytes are there, and of how many, if that is known."""


def size_of(file: OfficialFile, path: Path) -> int | None:
    """Ask how large a file is that shall lie at `path`; None if nobody says."""
    request = Request(file.url, method="HEAD", headers=_HEADERS)
    try:
        with urlopen(request, timeout=PATIENCE) as answer:
            return _number(answer.headers.get("Content-Length"))
    except HTTPError as error:
        error.close()
        return None  # some servers refuse to be asked; the download itself tells
    except (URLError, *_CUTS) as error:
        raise _unreachable(file, path, error) from None


def fetch(file: OfficialFile, path: Path, shown: Shown) -> None:
    """Download a file to `path`, or go on with what an earlier try left.

    Raises:
        DataError: The server does not give it, or its sum is wrong.
        StorageError: There is no room for it.
        Interrupted: Ctrl-C; what was fetched stays.
    """
    make_folder(path.parent)
    partial = path.with_name(f"{path.name}.part")
    with _opened(partial) as descriptor:
        if not file.sums:
            os.ftruncate(descriptor, 0)  # a wrong joint could not be noticed
        try:
            _fill(file, path, descriptor, shown)
        except KeyboardInterrupt:
            size = os.fstat(descriptor).st_size
            raise Interrupted(
                f"stopped with {size:,} bytes of {path.name}; the same command goes "
                "on from there"
            ) from None
        os.fsync(descriptor)
        _check(file, partial)
        os.replace(partial, path)
    sync(path.parent)


@contextmanager
def _opened(partial: Path) -> Iterator[int]:
    try:
        descriptor = os.open(partial, _FLAGS, 0o644)
    except OSError as error:
        raise cannot_write(partial, 0, error) from None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield descriptor
    except BlockingIOError:
        raise DataError(
            f"another process is downloading '{partial}'; let it end", "FS3051"
        ) from None
    finally:
        os.close(descriptor)


@dataclass
class _Answer:
    """What the server begins to send."""

    start: int = 0
    total: int | None = None
    """Bytes of the whole file."""
    body: http.client.HTTPResponse | None = None
    """None if nothing follows: all is there, or what is there does not fit."""


def _fill(file: OfficialFile, path: Path, descriptor: int, shown: Shown) -> None:
    """Fetch until all is there; a cut connection is opened again."""
    vain = 0
    while vain < TRIES:
        have, answer = os.fstat(descriptor).st_size, _Answer()
        try:
            answer = _ask(file, path, have)
            os.ftruncate(descriptor, answer.start)
            if answer.body is not None:
                with answer.body:
                    _copy(answer, path, descriptor, shown)
        except _CUTS:
            pass
        now = os.fstat(descriptor).st_size
        if now == answer.total:
            return
        vain = vain + 1 if now <= have else 0
        time.sleep(PAUSE)
    raise DataError(
        f"the connection to {file.url} was cut {TRIES} times after {now:,} bytes; the "
        "same command goes on there",
        "FS3052",
    )


def _ask(file: OfficialFile, path: Path, have: int) -> _Answer:
    headers = _HEADERS | ({"Range": f"bytes={have}-"} if have else {})
    try:
        body = urlopen(Request(file.url, headers=headers), timeout=PATIENCE)
    except HTTPError as error:
        with error:
            return _refused(file, path, have, error)
    except URLError as error:
        if isinstance(error.reason, _CUTS):
            raise error.reason from None
        raise _unreachable(file, path, error) from None
    if body.status != _PART:
        return _Answer(0, _number(body.headers.get("Content-Length")), body)
    start, total = _range(body.headers.get("Content-Range", ""))
    if start == have:
        return _Answer(have, total, body)
    body.close()
    return _Answer()  # another part than was asked for: begin anew


def _refused(file: OfficialFile, path: Path, have: int, error: HTTPError) -> _Answer:
    if error.code == _NOT_THERE and have:
        _, total = _range(error.headers.get("Content-Range", ""))
        return _Answer(have, have) if total == have else _Answer()
    raise DataError(
        f"{file.url} answered {error.code} {error.reason}; {_by_hand(file, path)}",
        "FS3053",
    ) from None


def _copy(answer: _Answer, path: Path, descriptor: int, shown: Shown) -> None:
    assert answer.body is not None
    done = answer.start
    if answer.total is not None:
        _check_room(path, answer.total - done)
    os.lseek(descriptor, done, os.SEEK_SET)
    while block := answer.body.read1(_BLOCK):
        done += len(block)
        if done > MOST:
            raise DataError(
                f"{path.name} has more than {MOST:,} bytes, which no data set here "
                "has; it was given up",
                "FS3054",
            )
        _write(descriptor, block, path)
        shown(done, answer.total)
    if answer.total is None:
        answer.total = done  # the server ends the file by closing, as it may


def _write(descriptor: int, block: bytes, path: Path) -> None:
    left = memoryview(block)
    while left:
        try:
            left = left[os.write(descriptor, left) :]
        except OSError as error:
            raise cannot_write(path, len(left), error) from None


def _check_room(path: Path, needed: int) -> None:
    if needed > shutil.disk_usage(path.parent).free:
        raise cannot_write(path, needed, OSError(errno.ENOSPC, "no space"))


def _check(file: OfficialFile, partial: Path) -> None:
    if not file.sums:
        return
    found = sums_of(partial)
    if not found & {*file.sums}:
        remove(partial)
        kind = file.sums[0].split(":")[0]
        own = next(each for each in found if each.startswith(kind))
        raise DataError(
            f"what {file.url} sent is not {file.name}: {own}, expected "
            f"{file.sums[0]}; it was deleted, try again later",
            "FS3054",
        )


def _unreachable(file: OfficialFile, path: Path, error: Exception) -> DataError:
    reason = getattr(error, "reason", error)
    return DataError(
        f"cannot reach {file.url} ({reason}); {_by_hand(file, path)}", "FS3053"
    )


def _by_hand(file: OfficialFile, path: Path) -> str:
    return f"get {file.name} by other means and put it at {path}"


def _range(text: str) -> tuple[int | None, int | None]:
    """Read Content-Range: where a part begins, and the size of the whole.

    >>> _range("bytes 5-9/10"), _range("bytes */10"), _range("")
    ((5, 10), (None, 10), (None, None))
    """
    part, _, whole = text.removeprefix("bytes ").partition("/")
    return _number(part.partition("-")[0]), _number(whole)


def _number(text: str | None) -> int | None:
    return int(text) if text and text.isascii() and text.isdigit() else None


_HEADERS = {"User-Agent": "fedsemi", "Accept-Encoding": "identity"}
