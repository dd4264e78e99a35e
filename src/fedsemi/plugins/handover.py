"""What a process hands to the workers that it starts on the same machine.

Classes of modules go by name, for a worker can import them. Those of the running script
or notebook go by value: a worker must not run that script again to get at them. Nothing
of this ever crosses a network.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any

import cloudpickle

from fedsemi.plugins.registry import REGISTRIES

_MAIN = "__main__"
_one_at_a_time = threading.Lock()


def packed(thing: Any) -> bytes:
    """Write a thing with all plug-ins that were added in this process."""
    added = [
        (kind, found, registry.identity(name))
        for kind, registry in REGISTRIES.items()
        for name, found in registry.added.items()
    ]
    content: bytes = cloudpickle.dumps((added, thing))
    return content


def unpacked(content: bytes) -> Any:
    """Read what `packed` wrote in another process of this machine, and add it all."""
    added, thing = cloudpickle.loads(content)
    for kind, found, identity in added:
        if kind in REGISTRIES:
            REGISTRIES[kind].receive(found, identity)
    return thing


@contextmanager
def script_hidden() -> Iterator[None]:
    """Start processes that do not run this process's script once more.

    `multiprocessing` would do so to find the script's classes. One without a guard
    would start workers in workers, and what came by standard input cannot be run again.
    """
    with _one_at_a_time:
        script = sys.modules[_MAIN]
        sys.modules[_MAIN] = ModuleType(_MAIN)
        try:
            yield
        finally:
            sys.modules[_MAIN] = script
