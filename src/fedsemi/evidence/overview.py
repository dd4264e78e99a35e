"""All questions on one screen, each with its short answer."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from fedsemi.evidence.answer import Answer
from fedsemi.evidence.answers_weights import PLACES
from fedsemi.evidence.render import markdown_table, name_of
from fedsemi.evidence.short import DISSENT, NO, OPEN, SO, TRADE, YES, Part, gathered
from fedsemi.evidence.stats import holm
from fedsemi.evidence.stopping import WORTH

_FIRST = next(iter(PLACES))
"""Where the question is asked that the other places ask again."""

_LEVEL = 0.05

NOTE = (
    "Differences in points of accuracy (balanced accuracy on ISIC-18; a rank "
    "correlation in Q5) with 95 % intervals, by the mean of the last tests or, in "
    "Q8 to Q10, by its running mean over rounds. Yes: the interval is above zero and "
    f"reaches beyond {WORTH}; no: it is below zero or within ±{WORTH}; trade: another "
    "metric says the opposite; else open, as is what lacks planned seeds, or lies "
    f"within ±{WORTH} while seeds go on."
)

GLANCE = (
    "Mean differences in points of accuracy (balanced accuracy on ISIC-18; a rank "
    'correlation in Q5), in Q8 to Q10 by the running mean. "Yes", "no" and '
    '"open" follow from 95 % intervals; what lacks planned seeds is open, too. '
    f"{TRADE}: gained by this metric and lost by another.{DISSENT}: another score, "
    "metric or control gives another answer."
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


def as_markdown(lines: Sequence[Line]) -> str:
    """Write the overview as a table, and what its numbers are."""
    rows = [
        (
            f"{line.name}: {line.question}",
            "<br>".join(f"**{word}:** {told}" for word, told in line.answer),
        )
        for line in lines
    ]
    note = f"{NOTE} {corrected(lines)}"
    return f"{markdown_table(('question', 'answer'), rows)}\n\n{note}"


def at_a_glance(lines: Sequence[Line]) -> str:
    """Write where it is yes, no and open with means alone, for a first look."""
    words = YES, NO, OPEN
    rows = []
    for line in lines:
        cells = [
            "<br>".join(_brief(each) for each in line.parts if _column(each) == word)
            for word in words
        ]
        follows = [f"<br>*So: {each.told}*" for each in line.parts if each.word == SO]
        rows.append((f"{line.name}: {line.question}{''.join(follows)}", *cells))
    head = "question", *(word.lower() for word in words)
    return f"{markdown_table(head, rows)}\n\n{GLANCE} {corrected(lines)}"


def corrected(lines: Iterable[Line]) -> str:
    """Say how many of all these differences are left when all are counted."""
    told = [(line, part) for line in lines for part in line.parts if part.brief]
    tested = [(line, part, part.p) for line, part in told if part.p is not None]
    if not tested:
        return ""
    kept = holm([p for _, _, p in tested], _LEVEL)
    alone = sum(p < _LEVEL for _, _, p in tested)
    names = dict.fromkeys(
        line.name for (line, _, _), keep in zip(tested, kept, strict=True) if keep
    )
    places = f", in {'; '.join(names)}" if names else ""
    return (
        f"Of {len(tested)} differences {alone} exclude zero, each by its own interval; "
        f"corrected for their number (Holm) {sum(kept)} do{places}."
    )


def _column(part: Part) -> str:
    """Put a trade where it is neither yes nor no."""
    return OPEN if part.word == TRADE else part.word


def _brief(part: Part) -> str:
    return f"{TRADE}: {part.brief}" if part.word == TRADE else part.brief
