"""One process per run folder."""

from __future__ import annotations

import fcntl
import os
import time
from pathlib import Path

from fedsemi.errors import CannotCreate, RunInUse


class RunLock:
    """Holds a run folder for this process; the system lets go when the process ends."""

    def __init__(self, folder: Path) -> None:
        path = folder / ".lock"
        try:
            self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC)
        except OSError as error:
            raise CannotCreate(f"cannot make '{path}': {error.strerror}") from None
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            holder = os.pread(self._descriptor, 100, 0).decode(errors="replace")
            os.close(self._descriptor)
            raise RunInUse(
                f"'{folder}' is in use by {holder.strip() or 'another process'}; wait "
                "for it, or choose another folder"
            ) from None
        os.ftruncate(self._descriptor, 0)
        since = time.strftime("%Y-%m-%d %H:%M")
        os.pwrite(self._descriptor, f"pid {os.getpid()} since {since}\n".encode(), 0)

    def release(self) -> None:
        """Let other processes have the folder."""
        os.close(self._descriptor)
