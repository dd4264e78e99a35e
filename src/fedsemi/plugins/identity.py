"""Which code stands behind a plug-in: its name, its release, a hash of its source."""

from __future__ import annotations

import hashlib
import inspect
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.metadata import EntryPoint, packages_distributions, version
from pathlib import Path
from types import CodeType
from typing import Any


@dataclass(frozen=True)
class Identity:
    """What two processes must agree on if both use a plug-in."""

    kind: str
    name: str
    """As it stands in a config."""
    distribution: str = ""
    """The package that it was installed with, "" for a file."""
    version: str = ""
    sha256: str = ""
    """Of the source: of the file, or of all files of its package."""

    def __str__(self) -> str:
        release = f" ({self.distribution} {self.version})" if self.distribution else ""
        return f"{self.kind} {self.name}{release}, source {self.sha256[:12]}"


def identity_of(
    kind: str, name: str, thing: Any, entry: EntryPoint | None = None
) -> Identity:
    """Find out what a plug-in is made of; `entry` is how a package announced it."""
    module = (entry.value if entry else name).partition(":")[0]
    if entry is not None and entry.dist is not None:
        found = entry.dist.name, entry.dist.version
    else:
        found = _installed_with(module)
    return Identity(kind, name, *found, _sha256(module, thing))


@cache
def _installed_with(module: str) -> tuple[str, str]:
    """Name the distribution that a module was installed with, and its version."""
    names = packages_distributions().get(module.partition(".")[0], ())
    return (names[0], version(names[0])) if len(names) == 1 else ("", "")


def _sha256(module: str, thing: Any) -> str:
    """Hash the source; that of what was typed in, from its compiled code."""
    sha = hashlib.sha256()
    files = list(_files(module))
    for name, path in files:
        sha.update(f"{name}\n".encode() + path.read_bytes())
    if not files:
        for text in _compiled(thing):
            sha.update(f"{text}\n".encode())
    return sha.hexdigest()


def _files(module: str) -> Iterator[tuple[str, Path]]:
    """Yield the file of a module, or all files of the package that it belongs to."""
    top = sys.modules.get(module.partition(".")[0])
    home = getattr(top, "__path__", None)
    if home and getattr(top, "__file__", None):
        folder = Path(next(iter(home)))
        for path in sorted(folder.rglob("*.py")):
            yield path.relative_to(folder).as_posix(), path
        return
    file = getattr(sys.modules.get(module), "__file__", None)
    if file and Path(file).is_file():
        # A script is called by another name than a module.
        yield "" if module == "__main__" else module, Path(file)


def _compiled(thing: Any) -> Iterator[str]:
    """Describe the functions of a class, or a function, as far as they were compiled.

    What is typed into a notebook, or comes by standard input, has no file.
    """
    if inspect.isclass(thing):
        for name, value in sorted(vars(thing).items()):
            inner = getattr(value, "__func__", getattr(value, "fget", value))
            if code := getattr(inner, "__code__", None):
                yield from (name, *_lines(code))
            elif isinstance(value, str | int | float | bool):
                yield f"{name} = {value!r}" if not name.startswith("__") else ""
    elif code := getattr(thing, "__code__", None):
        yield from _lines(code)


def _lines(code: CodeType) -> Iterator[str]:
    yield from (code.co_code.hex(), repr(code.co_names), repr(code.co_varnames))
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _lines(constant)
        else:
            # The order of a set differs from process to process.
            is_set = isinstance(constant, frozenset)
            yield repr(sorted(map(repr, constant)) if is_set else constant)
