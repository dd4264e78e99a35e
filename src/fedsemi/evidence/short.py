"""The short answer to a question: where it is yes, where no, and where it is open."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from fedsemi.evidence.effects import WORTH, Effect, short

YES, NO, OPEN = "Yes", "No", "Open"
SO = "So"
"""For what follows from all parts of an answer."""


@dataclass(frozen=True)
class Part:
    """What holds at one place."""

    word: str
    told: str


def parts_of(effects: Mapping[str, Effect]) -> tuple[Part, ...]:
    """Say of each effect, by what it is called, whether it is a gain."""
    return tuple(part_of(name, each) for name, each in effects.items())


def part_of(name: str, effect: Effect) -> Part:
    """Say whether an effect is a gain worth having, with its interval.

    Less than that, or a loss, is a no; seeds that are missing leave it open.
    """
    test = effect.test
    if test is None:
        return Part(OPEN, f"{name} not run")
    told = [f"{name} {short(test)}"]
    told += [effect.beside] if effect.beside else []
    told += [effect.progress] if effect.seeds < effect.planned else []
    return Part(_word(effect), ", ".join(told))


def gathered(parts: Iterable[Part]) -> list[tuple[str, str]]:
    """Put what begins with the same word into one line, other words last.

    >>> gathered([Part(OPEN, "a"), Part(YES, "b"), Part(OPEN, "c")])
    [('Yes', 'b'), ('Open', 'a; c')]
    """
    parts = list(parts)
    words = dict.fromkeys((YES, NO, OPEN, *(each.word for each in parts)))
    told = {word: [each.told for each in parts if each.word == word] for word in words}
    return [(word, "; ".join(some)) for word, some in told.items() if some]


def _word(effect: Effect) -> str:
    test = effect.test
    if effect.seeds < effect.planned or test is None:
        return OPEN
    if test.low is None or test.high is None:
        return OPEN
    if test.low > 0 and test.high > WORTH:
        return YES
    return NO if test.high < 0 or -WORTH <= test.low <= test.high <= WORTH else OPEN
