"""A registry: what comes with fedsemi, what packages announce, what a config names.

A name is looked up among

- what comes with fedsemi ("semianagg"),
- what was added in this process (`registry.add(MyMethod)`, named "module:MyMethod"),
- what installed packages announce by an entry point ("fedsemi.methods"),
- what a kind of things has other words for ("onnx:encoder.onnx"), and
- what is written `module:Name`, which is imported.

Code never travels: whoever runs a plan must have the plug-in installed, and a site runs
none that its owner has not named, see `only`.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterator, Mapping, Set
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from functools import lru_cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Generic, TypeVar

from fedsemi.errors import ConfigError, ProtocolError, nearest
from fedsemi.plugins.identity import Identity, identity_of

T = TypeVar("T")

_LIVE = "__main__"
"""The script or notebook that runs: its classes may be defined anew at any time."""
_allowed: ContextVar[Set[str] | None] = ContextVar("allowed", default=None)


class Registry(Mapping[str, T], Generic[T]):
    """Things of one kind by name; a name from outside is found when it is asked for."""

    def __init__(
        self,
        kind: str,
        own: Mapping[str, T],
        check: Callable[[Any], str | None] = lambda thing: None,
        schemes: Mapping[str, Callable[[str], T]] | None = None,
    ) -> None:
        self.kind = kind
        """One or two words for messages."""
        self.own = own
        """What comes with fedsemi."""
        self._check = check
        """Says what is wrong with a thing from outside, None if nothing is."""
        self._schemes = schemes or {}
        """Make a thing of what stands behind the colon, by what stands before it."""
        self._added: dict[str, T] = {}
        self._handed: dict[str, Identity] = {}
        REGISTRIES[kind] = self

    @property
    def group(self) -> str:
        """The group of entry points by which packages announce such things."""
        return f"fedsemi.{self.kind.replace(' ', '')}s"

    def add(self, thing: T) -> str:
        """Make a thing known in this process; return the name to give in a config."""
        named: Any = thing
        name = f"{named.__module__}:{named.__qualname__}"
        self._added[name] = self._checked(name, thing)
        return name

    @property
    def added(self) -> Mapping[str, T]:
        """What was added in this process, to be handed to its workers."""
        return dict(self._added)

    def receive(self, thing: T, identity: Identity) -> None:
        """Take over what another process of this machine has added."""
        self._added[identity.name] = thing
        self._handed[identity.name] = identity

    @property
    def announced(self) -> Mapping[str, EntryPoint]:
        """What installed packages announce."""
        return _announced(self.group, tuple(sys.path))

    def identity(self, name: str) -> Identity | None:
        """Say which code stands behind a name; None for what comes with fedsemi."""
        if name in self.own:
            return None
        thing: Any = self[name]  # a broken or missing one is told here
        if name.partition(":")[0] in self._schemes:
            return Identity(self.kind, name, *thing.identity)
        entry = None if ":" in name else self.announced.get(name)
        return self._handed.get(name) or identity_of(self.kind, name, thing, entry)

    def __contains__(self, name: object) -> bool:
        """Tell whether a name may be known; what is `module:Name` is not imported."""
        return isinstance(name, str) and (
            name in self.own or ":" in name or name in self.announced
        )

    def __getitem__(self, name: str) -> T:
        if name in self.own:
            return self.own[name]
        if name not in self:
            raise ConfigError(
                f"there is no {self.kind} '{name}'{nearest(name, self)}; known are "
                f"{', '.join(self)}, or module:Name for one of your own",
                code="FS4104",
            )
        self._allow(name)
        if ":" not in name:
            return self._checked(name, self._loaded(name, self.announced[name].load))
        module, _, path = name.partition(":")
        if module in self._schemes:
            return self._schemes[module](path)
        if module == _LIVE:
            with suppress(AttributeError):
                # Noted, for a worker process has another script.
                self._added[name] = self._checked(name, _imported(module, path))
        if name in self._added:
            return self._added[name]
        return self._checked(name, self._loaded(name, lambda: _imported(module, path)))

    def __iter__(self) -> Iterator[str]:
        yield from dict.fromkeys([*self.own, *self._added, *self.announced])

    def __len__(self) -> int:
        return len(list(iter(self)))

    def _allow(self, name: str) -> None:
        allowed = _allowed.get()
        if allowed is not None and name not in allowed:
            raise ProtocolError(
                f"the plan names the {self.kind} '{name}', whose code does not come "
                "with fedsemi; to let it run at this site, its owner runs "
                f"`fedsemi agree FOLDER plan.json --allow {name}`",
                code="FS2137",
            )

    def _loaded(self, name: str, load: Callable[[], Any]) -> Any:
        """Load a plug-in, whose code may do anything, or say in one line why not."""
        try:
            return load()
        except Exception as error:
            reason = " ".join(f"{type(error).__name__}: {error}".split())[:200]
            raise ConfigError(
                f"the {self.kind} '{name}' cannot be loaded ({reason}); install it "
                "here, or put its folder on PYTHONPATH",
                code="FS4160",
            ) from error

    def _checked(self, name: str, thing: Any) -> T:
        problem = self._check(thing)
        if problem:
            raise ConfigError(f"the {self.kind} '{name}' {problem}", code="FS4161")
        found: T = thing
        return found


REGISTRIES: dict[str, Registry[Any]] = {}
"""The registries of this process by kind."""


@contextmanager
def only(names: Set[str]) -> Iterator[None]:
    """Load nothing from outside meanwhile but what is named, not even its module."""
    token = _allowed.set(names)
    try:
        yield
    finally:
        _allowed.reset(token)


@lru_cache(maxsize=16)
def _announced(group: str, path: tuple[str, ...]) -> Mapping[str, EntryPoint]:
    """Look through all that is installed, once for a path: it takes 30 ms."""
    return {each.name: each for each in entry_points(group=group)}


def _imported(module: str, path: str) -> Any:
    found: Any = importlib.import_module(module)
    for part in path.split("."):
        found = getattr(found, part)
    return found
