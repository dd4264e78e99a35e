"""Ctrl-C while the program is still being imported, which takes a second or two.

An exception in the middle of an import may come out as any other one, or as a page of
traceback. Nothing is lost yet, so the program just says a line and leaves.
"""

import os
import signal
from typing import Any

_LINE = b"fedsemi: FS1002 stopped\n"
_EXIT_CODE = 75
"""That of fedsemi.errors.Interrupted, which is not imported yet."""


def listen_early() -> None:
    """Let Ctrl-C end the program with a line from now on, unless it is ignored."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _leave)


def listen_as_usual() -> None:
    """Let Ctrl-C be an exception again, now that there may be something to save."""
    if signal.getsignal(signal.SIGINT) is _leave:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _leave(*_: Any) -> None:
    os.write(2, _LINE)
    os._exit(_EXIT_CODE)
