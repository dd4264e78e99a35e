"""The picture of a round: the real functions in the order in which they are called."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from tools.draw.code import Found, find, said_of
from tools.draw.path import ASKING, COMBINING, LEARNING, Step, path_of_a_round
from tools.draw.svg import WIDTH, arrow, card, lines, picture, text, wrapped

_EDGE, _GAP, _ROW = 10.0, 16.0, 3
_BOX = (WIDTH - 2 * _EDGE - (_ROW - 1) * _GAP - 20) / _ROW
_SIZE, _STEP = 10.5, 13.5


def draw(source: Path) -> str:
    """Draw a round of SemiAnAgg in the package in this folder."""
    found = dict(path_of_a_round(source))
    page = _Page(found)
    page.band("The server asks", ASKING, "plain")
    page.message(find(source, "messages.py:Task"))
    page.band("A client learns", LEARNING, "site", _staying(source))
    page.message(find(source, "messages.py:Update"))
    page.band("The server combines", COMBINING, "plain")
    return picture("One round of SemiAnAgg", page.y + 10, page.parts)


def _staying(source: Path) -> str:
    client = find(source, "data/client.py:Client").says
    memory = said_of(source, "messages.py:Memory")
    lower = client[0].lower() + client[1:-1], memory[0].lower() + memory[1:]
    return f"Stays here: Client, {lower[0]}; Memory, {lower[1]}"


class _Page:
    """The picture as far as it is drawn."""

    def __init__(self, found: Mapping[Step, Found]) -> None:
        self.found = found
        self.number = 0
        self.y = 58.0
        said = (
            "Functions in the order of their calls, each with the first line of what "
            "it says of itself; and what travels."
        )
        self.parts = [
            text(_EDGE, 22, "One round, with SemiAnAgg", "ink bold", 15),
            text(_EDGE, 40, said, "soft", _SIZE),
        ]

    def band(self, title: str, steps: Sequence[Step], kind: str, end: str = "") -> None:
        """Draw what happens in one place, three functions a row."""
        top, inner = self.y, list[str]()
        y = top + 30
        for row in _rows(steps):
            height = max(self._height(step) for step in row)
            for place, step in enumerate(row):
                x = _EDGE + 10 + place * (_BOX + _GAP)
                if place:
                    middle = y + height / 2
                    inner.append(arrow([(x - _GAP, middle), (x, middle)]))
                inner += self._box(step, x, y, height)
            y += height + _GAP
        if end:
            words = wrapped(end, WIDTH - 40, _SIZE)
            inner += lines(_EDGE + 10, y + 2, words, "ink", _SIZE)
            y += _STEP * len(words) + 4
        self.parts += [
            card(_EDGE, top, WIDTH - 2 * _EDGE, y - top - 5, kind),
            text(_EDGE + 10, top + 20, title, "ink bold", 12.5),
            *inner,
        ]
        self.y = y - 5

    def message(self, found: Found) -> None:
        """Draw a type that travels, with its fields in two columns."""
        self._down()
        top = self.y
        rows, parts = list(found.fields()), list[str]()
        half = (len(rows) + 1) // 2
        for x, column in ((_EDGE + 10, rows[:half]), (_EDGE + 345, rows[half:])):
            y = top + 36
            for name, kind, said in column:
                words = wrapped(said or kind, 235, 10)
                parts.append(text(x, y, name, "ink mono", 10))
                parts += lines(x + 88, y, words, "soft", 10)
                y += 13 * len(words) + 1
            self.y = max(self.y, y - 3)
        title = text(_EDGE + 10, top + 18, found.name, "ink bold mono", 12)
        about = text(_EDGE + 70, top + 18, found.says, "ink", _SIZE)
        place = text(WIDTH - _EDGE - 10, top + 18, found.place, "soft end mono", 10)
        whole = card(_EDGE, top, WIDTH - 2 * _EDGE, self.y - top, "message")
        self.parts += [whole, title, about, place, *parts]
        self._down()

    def _down(self) -> None:
        """Draw an arrow from what was drawn last to what comes next."""
        middle = WIDTH / 2
        self.parts.append(arrow([(middle, self.y), (middle, self.y + 20)], True))
        self.y += 20

    def _height(self, step: Step) -> float:
        says = wrapped(self.found[step].says, _BOX - 14, _SIZE)
        return 40 + len(says) * _STEP

    def _box(self, step: Step, x: float, y: float, height: float) -> list[str]:
        self.number += 1
        found = self.found[step]
        words = wrapped(found.says, _BOX - 14, _SIZE)
        equation = "".join(re.findall(r"Eq\. \d", found.says))
        return [
            card(x, y, _BOX, height, "page step"),
            text(x + 8, y + 16, found.name, "ink bold mono", 11.5),
            text(x + _BOX - 7, y + 16, str(self.number), "soft end", _SIZE),
            *lines(x + 8, y + 32, words, "ink", _SIZE),
            text(x + 8, y + height - 8, found.place, "soft mono", 9.5),
            text(x + _BOX - 7, y + height - 8, equation, "ink end bold", _SIZE),
        ]


def _rows(steps: Sequence[Step]) -> list[Sequence[Step]]:
    return [steps[i : i + _ROW] for i in range(0, len(steps), _ROW)]
