"""The rooms of the package as they are: what is in them, and who imports whom."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

import grimp

PACKAGE = "fedsemi"
NOUNS, WORDS = "the nouns", "words that everybody needs"
_NOUNS = ("method", "engine", "state", "contributions", "sums")
_SMALL = ("text", "plugins")
"""Rooms that are drawn as one with the files beside them, on the lowest floor."""
_INNER = {"deployment": ("site", "coordinator", "one_machine")}
"""Rooms whose own rooms are told apart."""
_PURPOSES = {
    NOUNS: "The interface: what a method, an engine and the server's memory are.",
    WORDS: "Words that everybody needs: what travels, arithmetic on state dicts, "
    "random streams, errors, files.",
}


@dataclass(frozen=True)
class Room:
    """What is in a room, and which rooms it uses."""

    members: tuple[str, ...]
    """Of what lies side by side in the package; empty for a room by itself."""
    purpose: str
    files: int
    lines: int
    uses: frozenset[str]


def survey(source: Path) -> dict[str, Room]:
    """Find the rooms, what is in them, and who imports whom."""
    graph = grimp.build_graph(PACKAGE, cache_dir=None)
    folders = {name.split(".")[1] for name in graph.modules if name.count(".") > 1}
    uses: dict[str, set[str]] = defaultdict(set)
    files: dict[str, list[Path]] = defaultdict(list)
    members: dict[str, list[str]] = defaultdict(list)
    for module in sorted(graph.modules):
        if (room := room_of(module, folders)) is None:
            continue
        files[room].append(_file(source, module))
        if room in _PURPOSES and module.count(".") == 1:
            members[room].append(module.split(".")[1])
        for used in graph.find_modules_directly_imported_by(module):
            if (other := room_of(used, folders)) not in (None, room):
                uses[room].add(str(other))
    return {
        room: Room(
            tuple(members[room]),
            _purpose(source, room),
            len(many),
            sum(len(path.read_text("utf-8").splitlines()) for path in many),
            frozenset(uses[room]),
        )
        for room, many in files.items()
    }


def room_of(module: str, folders: Collection[str]) -> str | None:
    """Name the room of a module; None for the package and its `__main__`."""
    names = module.split(".")[1:]
    if not names or names == ["__main__"]:
        return None
    if names[0] in _NOUNS:
        return NOUNS
    if names[0] in _SMALL or names[0] not in folders:
        return WORDS
    inner = names[1:2] and names[1] in _INNER.get(names[0], ())
    return ".".join(names[: 1 + bool(inner)])


def reached(rooms: Mapping[str, Room], start: str) -> set[str]:
    """Return all that a room uses, directly or through others."""
    found, left = set[str](), [start]
    while left:
        new = rooms[left.pop()].uses - found
        found |= new
        left += new
    return found


def shown(rooms: Mapping[str, Room]) -> list[tuple[str, str]]:
    """List the arrows: direct uses that do not follow from other arrows."""
    pairs = []
    for room, found in rooms.items():
        for used in found.uses - {WORDS}:
            others = found.uses - {used}
            if not any(used in reached(rooms, other) for other in others):
                pairs.append((room, used))
    return sorted(pairs)


def _file(source: Path, module: str) -> Path:
    path = source.joinpath(*module.split(".")[1:])
    package = path / "__init__.py"
    return package if package.exists() else path.with_suffix(".py")


def _purpose(source: Path, room: str) -> str:
    if room in _PURPOSES:
        return _PURPOSES[room]
    said = ast.get_docstring(
        ast.parse(_file(source, f"{PACKAGE}.{room}").read_text("utf-8"))
    )
    return (said or "").split("\n")[0].replace("`", "")
