"""What an answer is made of, and how effects make one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fedsemi.evidence.effects import Effect, said_of, table_of
from fedsemi.evidence.interval_plot import interval_plot
from fedsemi.evidence.short import Part, parts_of

_IN_WORDS = 2
"""Most effects that are told in sentences."""


@dataclass(frozen=True)
class Answer:
    """A question, what the records say, and the table and plots that show it."""

    name: str
    """The artifact whose runs answer it."""
    question: str
    finding: str
    """In a few words."""
    text: tuple[str, ...]
    """In sentences."""
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str
    plots: tuple[dict[str, Any], ...] = ()
    parts: tuple[Part, ...] = ()
    """Where it is yes, where no, and where it is open; none if it asks how much."""


def of_effects(
    name: str,
    question: str,
    deciding: Mapping[str, Effect],
    more: Sequence[Effect],
    title: str,
    scale: Sequence[str] = (),
    drawn: Sequence[Effect] = (),
) -> Answer:
    """Answer by the effects that decide, by where, and show others beside them.

    One or two are told in words, too; of more the table is easier to read. Where it is
    not said what is drawn, bounds are in the table only, as long as there is something
    else to draw: they lie so far off that a plot would show nothing else.
    """
    told: list[str] = []
    if len(deciding) <= _IN_WORDS:
        told.append(" ".join(each.sentence for each in deciding.values()))
        told += [each.outlook for each in deciding.values()]
    if len(deciding) == 1:
        (finding,) = [each.finding for each in deciding.values()]
    else:
        finding = "; ".join(f"{k}: {each.finding}" for k, each in deciding.items())
    effects = [*deciding.values(), *more]
    return Answer(
        name,
        question,
        finding,
        tuple(each for each in (*told, *scale) if each),
        *table_of(effects),
        said_of(effects),
        tuple(interval_plot(drawn or _drawn(deciding, more), title)),
        parts_of(deciding),
    )


def _drawn(deciding: Mapping[str, Effect], more: Sequence[Effect]) -> list[Effect]:
    """Leave out bounds, unless the question is about nothing else."""
    asked = list(deciding.values())
    if all(each.bound for each in asked):
        return asked
    return [each for each in (*asked, *more) if not each.bound]
