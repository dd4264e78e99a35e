"""What a deployed site costs while it waits for work."""

from __future__ import annotations

import os
import time
from pathlib import Path

from benchmarks.common import family

_SETTLE = 5.0
_WATCH = 20.0


def processor_share(pids: list[int], seconds: float = _WATCH) -> float:
    """Watch processes with all that they started; return their part of a core each."""
    time.sleep(_SETTLE)
    members = [member for pid in pids for member in family(pid)]
    before, started = sum(map(_seconds, members)), time.perf_counter()
    time.sleep(seconds)
    taken = sum(map(_seconds, members)) - before
    return taken / (time.perf_counter() - started) / len(pids)


def _seconds(pid: int) -> float:
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
