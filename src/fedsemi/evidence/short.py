"""The short answer to a question: where it is yes, where no, and where it is open."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from fedsemi.evidence.effects import Effect
from fedsemi.evidence.numbers import short, signed
from fedsemi.evidence.stats import Paired
from fedsemi.evidence.stopping import WORTH

YES, NO, OPEN = "Yes", "No", "Open"
TRADE = "Trade"
"""For what is gained by one metric and lost by another."""
DISSENT = " †"
"""Marks what the other score, or a second control, does not say."""
ALSO, SO = "Also", "So"
"""For what nothing was written down to decide by, and for what follows from all."""


@dataclass(frozen=True)
class Part:
    """What holds at one place."""

    word: str
    told: str
    brief: str = ""
    """Place and mean alone, for a table at a glance; marked if there is dissent."""
    p: float | None = None
    """By Student's t, of the difference that is told."""


def parts_of(effects: Mapping[str, Effect]) -> tuple[Part, ...]:
    """Say of each effect, by what it is called, whether it is a gain."""
    return tuple(part_of(name, each) for name, each in effects.items())


def part_of(name: str, effect: Effect) -> Part:
    """Say whether an effect is a gain, with its interval and what speaks against it."""
    test = effect.test
    if test is None:
        return Part(OPEN, f"{name} not run", f"{name} not run")
    word = word_of(effect)
    told = [f"{name} {short(test)}", effect.beside]
    if word == NO and test.low is not None and test.low > 0:
        told.append("too small to matter")
    if word == OPEN and test.within(WORTH):
        told.append(f"within ±{WORTH} so far")
    if effect.seeds < max(effect.planned, effect.most):
        told.append(effect.progress)
    brief = f"{name} {signed(test.mean)}"
    if effect.seeds < effect.planned:
        brief += f", {effect.progress}"
    mark = DISSENT if _dissent(effect, word) else ""
    text = ", ".join(each for each in told if each)
    return Part(word, text, brief + mark, test.p_t)


def _dissent(effect: Effect, word: str) -> bool:
    """Tell whether the other score or another metric would be answered otherwise."""
    _, second = effect.second
    other = second is not None and by_interval(second, WORTH) != word
    return bool(effect.by_metric) or bool(effect.by_score and other)


def doubted(part: Part, control: str, test: Paired | None) -> Part:
    """Say of a yes that it is none over a second control."""
    if (
        part.word not in (YES, TRADE)
        or test is None
        or test.low is None
        or test.low > 0
    ):
        return part
    told = f"{part.told}; not over {control}, {short(test)}"
    return replace(part, told=told, brief=part.brief.removesuffix(DISSENT) + DISSENT)


def word_of(effect: Effect) -> str:
    """Answer by an interval, and not before it has the seeds that were planned.

    That nothing worth having is there is not said while it goes on.

    Yes if it is above zero and reaches what matters, no if it is below zero or has
    nothing that matters in it; a trade if another metric says the opposite.
    """
    if effect.test is None or effect.seeds < effect.planned:
        return OPEN
    if effect.seeds < effect.most and effect.test.within(WORTH):
        return OPEN
    return TRADE if effect.traded else by_interval(effect.test, WORTH)


def by_interval(test: Paired, worth: float) -> str:
    """Answer by an interval alone."""
    low, high = test.low, test.high
    if low is None or high is None:
        return OPEN
    if high < 0 or test.within(worth):
        return NO
    return YES if low > 0 else OPEN


def gathered(parts: Iterable[Part]) -> list[tuple[str, str]]:
    """Put what begins with the same word into one line, other words last.

    >>> gathered([Part(OPEN, "a"), Part(YES, "b"), Part(OPEN, "c")])
    [('Yes', 'b'), ('Open', 'a; c')]
    """
    parts = list(parts)
    words = dict.fromkeys((YES, NO, TRADE, OPEN, *(each.word for each in parts)))
    told = {word: [each.told for each in parts if each.word == word] for word in words}
    return [(word, "; ".join(some)) for word, some in told.items() if some]
