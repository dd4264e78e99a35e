"""How a process that computes asks the system for memory."""

from __future__ import annotations

import ctypes
import sys

_M_TRIM_THRESHOLD = -1
_M_MMAP_THRESHOLD = -3
_LARGEST = 2**30


def keep_freed_memory() -> None:
    """Let this process keep what it frees, for the next tensors of the same size.

    By default glibc gives every large block back to the system as soon as it is freed,
    and the system clears it again for the next batch: a third of the time of a forward
    pass. The peak of the memory in use is the same; it is only not given back between
    batches. Where the C library is another one, nothing happens.
    """
    if sys.platform != "linux":
        return
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(_M_MMAP_THRESHOLD, _LARGEST)
        mallopt(_M_TRIM_THRESHOLD, _LARGEST)
