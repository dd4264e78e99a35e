"""Every error that fedsemi raises on purpose.

FedSemiError                70  a bug, if it is raised as itself
├── ConfigError             64  FS4xxx  a setting is unknown, missing or impossible
├── DataError               65  FS3xxx  a data set, folder or partition is wrong
├── CannotCreate            73          an output cannot be made
├── StorageError            74  FS1xxx  a file of a run is damaged or cannot be written
├── Interrupted             75  FS1002  stopped, but `--resume` continues
├── RunInUse                75  FS1401  another process works in the folder of the run
├── OutOfMemory             75  FS7101  no memory left, but `--resume` continues
├── Mismatch                64  FS13xx  a run cannot go on with these settings or data
├── ProtocolError           76  FS2xxx  sites and server do not fit together
└── ClientFailed            70  FS2301  the training code of one client raised

The number is the exit code of the command line. An error's text says what happened,
where, and what to do; the command line prints it in one line without a traceback.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from errno import ENOMEM

from fedsemi.text.printable import printable

_LINE = 10_000
"""The most characters of an error's text."""


class FedSemiError(Exception):
    """The root of the tree; `code` names the case, `exit_code` is the shell's."""

    exit_code = 70
    default_code = "FS0000"

    def __init__(self, message: str, code: str | None = None) -> None:
        super().__init__(message)
        self.code = code or self.default_code

    def __str__(self) -> str:
        # It may name what others have named, and Python prints it as it is.
        return f"{self.code} {printable(super().__str__(), _LINE)}"


class ConfigError(FedSemiError):
    """A setting is unknown, missing or impossible."""

    exit_code = 64
    default_code = "FS4100"


class DataError(FedSemiError):
    """A data set, folder or partition is missing or wrong."""

    exit_code = 65
    default_code = "FS3000"


class CannotCreate(FedSemiError):
    """An output folder or file cannot be made."""

    exit_code = 73
    default_code = "FS1200"


class StorageError(FedSemiError):
    """A file of a run is damaged or cannot be read or written."""

    exit_code = 74
    default_code = "FS1100"


class Interrupted(FedSemiError):
    """The run was stopped; the same command with `--resume` continues it."""

    exit_code = 75
    default_code = "FS1002"


class RunInUse(FedSemiError):
    """Another process works in the folder of the run."""

    exit_code = 75
    default_code = "FS1401"


class OutOfMemory(FedSemiError):
    """There is no memory left; with fewer workers `--resume` continues."""

    exit_code = 75
    default_code = "FS7101"


class Mismatch(FedSemiError):
    """A run cannot go on with settings, data or software that differ."""

    exit_code = 64
    default_code = "FS1301"


class ProtocolError(FedSemiError):
    """A site and the server do not fit together, or too few sites answered."""

    exit_code = 76
    default_code = "FS2100"


class ClientFailed(FedSemiError):
    """The local training of one client raised; the cause is chained."""

    default_code = "FS2301"

    def __init__(self, client: int, round: int, reason: str) -> None:
        super().__init__(f"client {client} failed in round {round}: {reason}")
        self.client = client
        self.round = round

    def __reduce__(self) -> tuple[type, tuple[int, int, str]]:
        return type(self), (self.client, self.round, self.args[0].split(": ", 1)[1])


def lacks_memory(error: BaseException) -> bool:
    """Say whether an error means that there is no memory left."""
    # torch raises a RuntimeError whose text alone tells; the last one is oneDNN's.
    signs = (
        "out of memory",
        "not enough memory",
        "can't allocate memory",
        "could not create a primitive",
    )
    known = isinstance(error, MemoryError) or getattr(error, "errno", 0) == ENOMEM
    return known or any(sign in str(error) for sign in signs)


def nearest(name: str, known: Iterable[str]) -> str:
    """Return " (did you mean 'x'?)" for the known name most like `name`, or ""."""
    close = most_alike(name, known)
    return f" (did you mean '{close}'?)" if close else ""


def most_alike(name: str, known: Iterable[str], cutoff: float = 0.5) -> str | None:
    """Return the known name most like `name`, upper and lower case being the same."""
    folded = {each.casefold(): each for each in known}
    close = difflib.get_close_matches(name.casefold(), folded, n=1, cutoff=cutoff)
    return folded[close[0]] if close else None
