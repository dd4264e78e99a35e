"""A registry: what comes with fedsemi, what packages announce, what a config names.

A name is looked up among

- what comes with fedsemi ("semianagg"),
- what was added in this process (`registry.add(MyMethod)`, named "module:MyMethod"),
- what installed packages announce by an entry point ("fedsemi.methods"), and
- what is written `module:Name`, which is imported.

Code never travels: whoever runs a plan must have the plug-in installed.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping
from functools import cached_property
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Generic, TypeVar

from fedsemi.errors import ConfigError, nearest

T = TypeVar("T")


class Registry(Mapping[str, T], Generic[T]):
    """Things of one kind by name; a name from outside is found when it is asked for."""

    def __init__(self, kind: str, own: Mapping[str, T]) -> None:
        self.kind = kind
        """One word for messages, and with an s the group of the entry points."""
        self.own = own
        """What comes with fedsemi."""
        self._added: dict[str, T] = {}

    def add(self, thing: T) -> str:
        """Make a thing known in this process; return the name to give in a config."""
        named: Any = thing
        name = f"{named.__module__}:{named.__qualname__}"
        self._added[name] = thing
        return name

    @property
    def added(self) -> Mapping[str, T]:
        """What was added in this process, to be handed to its workers."""
        return dict(self._added)

    @cached_property
    def announced(self) -> Mapping[str, EntryPoint]:
        """What installed packages announce."""
        return {each.name: each for each in entry_points(group=f"fedsemi.{self.kind}s")}

    def __getitem__(self, name: str) -> T:
        for known in (self.own, self._added):
            if name in known:
                return known[name]
        if name in self.announced:
            return self._loaded(name, self.announced[name].load)
        if ":" in name:
            return self._loaded(name, lambda: _imported(name))
        raise ConfigError(
            f"there is no {self.kind} '{name}'{nearest(name, self)}; known are "
            f"{', '.join(self)}, or module:Name for one of your own",
            code="FS4104",
        )

    def __iter__(self) -> Iterator[str]:
        yield from dict.fromkeys([*self.own, *self._added, *self.announced])

    def __len__(self) -> int:
        return len(list(iter(self)))

    def _loaded(self, name: str, load: Any) -> T:
        """Load a plug-in, whose code may do anything, or say in one line why not."""
        try:
            found: T = load()
        except Exception as error:
            reason = " ".join(f"{type(error).__name__}: {error}".split())[:200]
            raise ConfigError(
                f"the {self.kind} '{name}' cannot be loaded ({reason}); install it "
                "here, or put its folder on PYTHONPATH",
                code="FS4160",
            ) from error
        return found


def _imported(name: str) -> Any:
    module, _, path = name.partition(":")
    found: Any = importlib.import_module(module)
    for part in path.split("."):
        found = getattr(found, part)
    return found
