"""Open only what lies inside a site's folder: regular files, no links, no surprises."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from pathlib import Path

from fedsemi.errors import DataError

READ_CAP = 64 << 20
"""The largest file that is read, in bytes."""

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# Not blocking, or opening a FIFO would wait for a writer for ever.
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_MAX_DEPTH = 32


class Refused(Exception):
    """A file that is not read, and why; the caller decides whether that is fatal."""

    def __init__(self, code: str, reason: str) -> None:
        super().__init__(reason)
        self.code = code


def inside(text: str, where: str) -> str:
    """Return a relative path in its plain form; refuse one that leaves the folder.

    Args:
        text: The path as somebody wrote it.
        where: Who wrote it, for the message: "labels.csv line 7".
    """
    parts = [part for part in text.split("/") if part not in ("", ".")]
    if text.startswith("/") or "\0" in text or ".." in parts or not parts:
        raise DataError(
            f"{where} points outside the data folder or nowhere ({text!r}) — refused. "
            "Write paths relative to the folder",
            code="FS3501",
        )
    return "/".join(parts)


def read_regular(root: Path, name: str, cap: int = READ_CAP) -> bytes:
    """Read a regular file below `root`, following no symbolic link on the way.

    Raises:
        Refused: It is missing, not a regular file, too large, or may not be read.
    """
    *folders, last = inside(name, "a file name").split("/")
    opened: list[int] = []
    try:
        opened.append(os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC))
        for folder in folders:
            opened.append(os.open(folder, _FOLDER, dir_fd=opened[-1]))
        opened.append(os.open(last, _FILE, dir_fd=opened[-1]))
        return _content(opened[-1], cap)
    except OSError as error:
        raise Refused("FS3102", _why(error)) from None
    finally:
        for descriptor in opened:
            os.close(descriptor)


def walk(root: Path) -> Iterator[tuple[str, bool]]:
    """Yield the relative path of everything below `root` and whether it is a file.

    Hidden names are passed over; symbolic links are yielded as "not a file" and never
    followed. The order is that of the names, whatever the file system does.
    """
    yield from _walk(root, "", 0)


def _walk(root: Path, prefix: str, depth: int) -> Iterator[tuple[str, bool]]:
    try:
        entries = sorted(os.scandir(root / prefix), key=lambda entry: entry.name)
    except OSError as error:
        raise DataError(
            f"cannot list '{root / prefix}': {error.strerror}", code="FS3102"
        ) from None
    for entry in entries:
        name = f"{prefix}{entry.name}"
        if entry.name.startswith("."):
            continue
        if entry.is_dir(follow_symlinks=False) and depth < _MAX_DEPTH:
            yield from _walk(root, f"{name}/", depth + 1)
        else:
            yield name, entry.is_file(follow_symlinks=False)


def _content(descriptor: int, cap: int) -> bytes:
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode):
        raise Refused("FS3102", "is not a regular file")
    if status.st_size > cap:
        raise Refused("FS3102", f"is larger than {cap >> 20} MB")
    with os.fdopen(os.dup(descriptor), "rb") as file:
        content = file.read(cap + 1)
    if len(content) > cap:
        raise Refused("FS3102", f"is larger than {cap >> 20} MB")
    return content


def _why(error: OSError) -> str:
    if error.errno in (errno.ELOOP, errno.ENOTDIR):  # what O_NOFOLLOW makes of links
        return "is or lies behind a symbolic link"
    return f"cannot be opened ({error.strerror})"
