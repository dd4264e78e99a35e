"""The picture of the rooms: floors as agreed, arrows as the imports really are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tools.draw.survey import NOUNS, WORDS, Room, reached, shown, survey
from tools.draw.svg import Point, arrow, card, lines, picture, text, wrapped

_ABOVE = 62
_BETWEEN = 21
_SIZE = 10.5
"""Of what is written below a room's name."""


@dataclass(frozen=True)
class Place:
    """Where a room is drawn: its floor from above, and its walls."""

    floor: int
    left: int
    right: int
    floors: int = 1

    @property
    def width(self) -> int:
        """Return how far the walls are apart."""
        return self.right - self.left


PLAN = {
    "cli": Place(0, 10, 690),
    "deployment.one_machine": Place(1, 10, 203),
    "api": Place(1, 211, 322),
    "asking": Place(1, 330, 441),
    "leakage": Place(1, 449, 561),
    "evidence": Place(2, 315, 561),
    "valuation": Place(1, 573, 690, floors=2),
    "deployment.coordinator": Place(2, 95, 300),
    "use": Place(3, 250, 385),
    "report": Place(3, 403, 538),
    "simulation": Place(3, 556, 690),
    "deployment.site": Place(4, 10, 205),
    "server": Place(4, 250, 690),
    "deployment": Place(5, 40, 205),
    "runs": Place(5, 290, 690),
    "config": Place(6, 290, 690),
    "engines": Place(7, 10, 270),
    "methods": Place(7, 290, 512),
    "privacy": Place(7, 528, 690),
    "client": Place(8, 10, 690),
    "objectives": Place(9, 10, 690),
    NOUNS: Place(10, 10, 342),
    "models": Place(10, 358, 690),
    "data": Place(11, 10, 690),
    WORDS: Place(12, 10, 690),
}
"""Where the rooms are drawn. A new room gets a line here."""

LANES: Mapping[tuple[str, str], tuple[Point, ...]] = {
    ("deployment.one_machine", "deployment.site"): ((50, 1), (50, 4)),
    ("deployment.coordinator", "deployment"): ((228, 2), (228, 5.5), (205, 5.5)),
    ("deployment.site", "engines"): ((25, 4), (25, 7)),
    ("deployment", "config"): ((120, 5), (120, 6.5), (290, 6.5)),
    ("server", "engines"): ((262, 4), (262, 7)),
    ("privacy", NOUNS): ((540, 7), (540, 8.5), (330, 8.5), (330, 10)),
}
"""Ways around other rooms: x, and the floor; a half stands for a room's middle."""


def draw(source: Path) -> str:
    """Draw the rooms of the package in this folder."""
    rooms = survey(source)
    if strange := rooms.keys() ^ PLAN.keys():
        raise SystemExit(f"give {sorted(strange)} a place in tools/draw/rooms.py, PLAN")
    arrows = shown(rooms)
    if old := LANES.keys() - set(arrows):
        raise SystemExit(f"nobody goes {sorted(old)}; see tools/draw/rooms.py, LANES")
    at_site = reached(rooms, "deployment.site") | {"deployment.site"}
    floors, parts = _floors(rooms), _legend()
    parts += [arrow(_way(start, end, floors)) for start, end in arrows]
    for name, room in rooms.items():
        kind = "site" if name in at_site else "plain"
        parts += _box(name, room, floors, "truth" if name == "simulation" else kind)
    title = "The rooms of fedsemi and who uses whom"
    return picture(title, floors[-1][1] + 10, parts)


Floors = Sequence[tuple[float, float]]
"""Upper and lower edge of each floor."""


def _floors(rooms: Mapping[str, Room]) -> Floors:
    """Make every floor as high as what is written in its rooms."""
    top, floors = float(_ABOVE), list[tuple[float, float]]()
    for floor in range(max(place.floor for place in PLAN.values()) + 1):
        here = [n for n, p in PLAN.items() if p.floor == floor and p.floors == 1]
        height = max(_Words.of(name, rooms[name]).height for name in here)
        floors.append((top, top + height))
        top += height + _BETWEEN
    return floors


def _way(start: str, end: str, floors: Floors) -> list[Point]:
    a, b = PLAN[start], PLAN[end]
    (top, _), bottom = floors[b.floor], floors[a.floor + a.floors - 1][1]
    if (lane := LANES.get((start, end))) is not None:
        (first, _), *rest = lane
        turns = [
            (x, top if floor == b.floor else _middle(floor, floors))
            for x, floor in rest
        ]
        return [(first, bottom), *turns]
    if a.floor == b.floor:
        ends = (a.right, b.left) if a.right < b.left else (a.left, b.right)
        return [(x, _middle(a.floor, floors)) for x in ends]
    low, high = max(a.left, b.left), min(a.right, b.right)
    if low < high:
        return [((low + high) / 2, bottom), ((low + high) / 2, top)]
    leftwards = b.right < a.left
    return [
        (a.left + 12 if leftwards else a.right - 12, bottom),
        (b.right - 12 if leftwards else b.left + 12, top),
    ]


def _middle(floor: float, floors: Floors) -> float:
    return sum(floors[int(floor)]) / 2


def _legend() -> list[str]:
    parts = [text(10, 22, "The rooms", "ink bold", 15)]
    kinds = {"site": "loaded at a site", "plain": "never loaded there"}
    x = 310.0
    for kind, words in (kinds | {"truth": "knows the truth"}).items():
        parts += [card(x, 11, 14, 14, kind), text(x + 20, 22, words, "soft", 11)]
        x += 34 + 6.0 * len(words)
    said = (
        "A room may use those on lower floors. An arrow is an import; those that "
        "follow from others are left out,"
    )
    more = "and so are those to the lowest floor, which everybody uses."
    return parts + lines(10, 40, [said, more], "soft", 10.5)


@dataclass(frozen=True)
class _Words:
    """What is written in a room."""

    title: str
    size: str
    purpose: Sequence[str]
    beside: bool
    """Whether the size has room beside the title."""

    @classmethod
    def of(cls, name: str, room: Room) -> _Words:
        width = PLAN[name].width
        title = ", ".join(room.members) or f"{name}/"
        size = f"{room.files} files, {_about(room.lines)} lines"
        beside = 7.6 * len(title) + 6.0 * len(size) + 24 < width
        purpose = wrapped(room.purpose, width - 14, _SIZE)
        return cls(title.replace(".", "/"), size, purpose, beside)

    @property
    def height(self) -> float:
        return 26 + (len(self.purpose) + (not self.beside)) * (_SIZE + 3)


def _box(name: str, room: Room, floors: Floors, kind: str) -> Iterator[str]:
    place, words = PLAN[name], _Words.of(name, room)
    top, bottom = floors[place.floor][0], floors[place.floor + place.floors - 1][1]
    yield card(place.left, top, place.width, bottom - top, kind)
    x, y = place.left + 9, top + 17
    yield text(x, y, words.title, "ink bold", 12.5)
    below = [*words.purpose, *([] if words.beside else [words.size])]
    yield from lines(x, y + 15, below, "soft", _SIZE)
    if words.beside:
        yield text(place.right - 9, y, words.size, "soft end", _SIZE)


def _about(number: int) -> str:
    """Round: a picture need not change with every line of code."""
    step = 500 if number > 1000 else 100
    return f"{max(step, step * round(number / step)):,}"
