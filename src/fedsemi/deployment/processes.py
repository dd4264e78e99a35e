"""Start Flower's own programs for a deployment, and stop them again."""

from __future__ import annotations

import ctypes
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TextIO

from fedsemi.errors import ConfigError
from fedsemi.storage import make_folder
from fedsemi.text.printable import printable

_DIE_WITH_PARENT = 1
_STOP_SECONDS = 20
_ONLY_ME = 0o077


def start(name: str, command: Sequence[str], home: Path) -> subprocess.Popen[bytes]:
    """Start a program; its output goes to NAME.log in `home`.

    What it writes is private: Flower's database holds tokens and messages. On Linux it
    ends when this process ends, however that happens.
    """
    path = make_folder(home, private=True) / f"{name}.log"
    with open(path, "ab", opener=_private) as log:
        return subprocess.Popen(
            command,
            stdout=log,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            env=environment(home),
            start_new_session=True,
            preexec_fn=die_with_parent,
            umask=_ONLY_ME,
        )


def stop(process: subprocess.Popen[bytes]) -> None:
    """End a program that `start` started, with its children, gently at first."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, number)
            process.wait(timeout=_STOP_SECONDS)
        except subprocess.TimeoutExpired:
            continue
        except ProcessLookupError:
            process.wait()
            return


def end_on_sigterm() -> None:
    """Let SIGTERM end this process as Ctrl-C does, so that its programs are stopped."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))


def add_line(path: Path, text: str) -> None:
    """Add a line to a log that somebody follows."""
    with open_log(path) as log:
        log.write(f"{printable(text)}\n")


def open_log(path: Path) -> TextIO:
    """Open a log to add lines: for this user only, and never through a link."""
    return open(path, "a", encoding="utf-8", buffering=1, opener=_private)


class Follower:
    """Reads what is added to a log from now on."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._seen = path.stat().st_size if path.exists() else 0

    def lines(self) -> list[str]:
        """Return the lines that are new."""
        if not self._path.exists():
            return []
        with self._path.open("rb") as file:
            file.seek(self._seen)
            text = file.read()
        self._seen += len(text)
        return text.decode(errors="replace").splitlines()


def program(name: str) -> str:
    """Find a program that is installed beside this Python."""
    path = Path(sys.executable).parent / name
    if not path.exists():
        raise ConfigError(
            f"'{path}' is missing; install it with: pip install 'fedsemi[flower]'",
            code="FS5004",
        )
    return str(path)


def environment(home: Path) -> dict[str, str]:
    """Keep Flower's files in `home`, its telemetry off, and bits reproducible."""
    beside = str(Path(sys.executable).parent)
    return os.environ | {
        "FLWR_HOME": str(make_folder(home, private=True)),
        "FLWR_TELEMETRY_ENABLED": "0",
        "FLWR_DISABLE_UPDATE_CHECK": "1",
        "OMP_NUM_THREADS": "1",
        # Flower starts its own programs by name.
        "PATH": os.pathsep.join([beside, os.environ.get("PATH", "")]),
    }


def _private(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NOFOLLOW, 0o600)


def free_port() -> int:
    """Find a port on loopback that nobody uses."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def is_open(host: str, port: int) -> bool:
    """Tell whether something listens there."""
    try:
        with socket.create_connection((host, port), timeout=1):
            return True
    except OSError:
        return False


def is_alive(pid: int) -> bool:
    """Tell whether a process exists."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def die_with_parent(number: int = signal.SIGTERM) -> None:
    """Let this process get a signal when its parent ends; only Linux can do that."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_DIE_WITH_PARENT, number)
