"""All questions on one screen, each with its short answer."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from fedsemi.evidence.answer import Answer
from fedsemi.evidence.answers_weights import PLACES
from fedsemi.evidence.render import markdown_table, name_of
from fedsemi.evidence.short import DISSENT, NO, OPEN, SO, YES, Part, gathered
from fedsemi.evidence.stopping import WORTH

_FIRST = next(iter(PLACES))
"""Where the question is asked that the other places ask again."""

NOTE = (
    "Differences in points of accuracy (balanced accuracy on ISIC-18; a rank "
    "correlation in Q5) with 95 % intervals, by the model of the last rounds or, in "
    "Q8 to Q10, by its running mean over rounds. Yes: the interval is above zero and "
    f"reaches beyond {WORTH}; no: it is below zero or within ±{WORTH}; else open, as "
    "is what lacks planned seeds, or lies within that while seeds go on. Intervals are "
    "not corrected for their number."
)

GLANCE = (
    "Mean differences in points of accuracy (balanced accuracy on ISIC-18; a rank "
    "correlation in Q5), in Q8 to Q10 by the running mean. Yes, no and open are told "
    "by 95 % intervals, which are not corrected for their number; what lacks planned "
    f"seeds or goes on may be open for that.{DISSENT}: the other score, another metric "
    "or a second control would be answered otherwise."
)


@dataclass(frozen=True)
class Line:
    """A question with its answer, from all places at which it is asked."""

    name: str
    question: str
    parts: tuple[Part, ...]

    @property
    def answer(self) -> list[tuple[str, str]]:
        """What begins with Yes, No and Open, as far as there is any, and what else."""
        return gathered(self.parts)


def overview(answers: Iterable[Answer]) -> list[Line]:
    """Answer each question that can be answered by yes or no in a line."""
    asked: dict[str, tuple[Answer, list[Part]]] = {}
    for each in answers:
        if each.parts:
            name = _FIRST if each.name in PLACES else each.name
            asked.setdefault(name, (each, []))[1].extend(each.parts)
    return [
        Line(name_of(first), first.question, tuple(parts))
        for first, parts in asked.values()
    ]


def as_markdown(lines: Iterable[Line]) -> str:
    """Write the overview as a table, and what its numbers are."""
    rows = [
        (
            f"{line.name}: {line.question}",
            "<br>".join(f"**{word}:** {told}" for word, told in line.answer),
        )
        for line in lines
    ]
    return f"{markdown_table(('question', 'answer'), rows)}\n\n{NOTE}"


def at_a_glance(lines: Iterable[Line]) -> str:
    """Write where it is yes, no and open with means alone, for a first look."""
    words = YES, NO, OPEN
    rows = []
    for line in lines:
        cells = [
            "<br>".join(each.brief for each in line.parts if each.word == word)
            for word in words
        ]
        follows = [f"<br>*So: {each.told}*" for each in line.parts if each.word == SO]
        rows.append((f"{line.name}: {line.question}{''.join(follows)}", *cells))
    head = "question", *(word.lower() for word in words)
    return f"{markdown_table(head, rows)}\n\n{GLANCE}"
