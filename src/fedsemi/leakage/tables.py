"""From records to tables: one for each question, a line for each thing sent."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import mean

from fedsemi.evidence.render import markdown_table
from fedsemi.leakage.answers import COUNTS, METRICS, MODEL, STATISTIC
from fedsemi.leakage.lab import QUESTIONS, Cell, Question
from fedsemi.leakage.play import EVERYTHING
from fedsemi.leakage.records import Record
from fedsemi.leakage.scores import Estimate, estimate, mean_and_reach
from fedsemi.leakage.seen import forms_of
from fedsemi.messages import CLASS_COUNT, DIVERSITY

TITLES: dict[Question, str] = {
    "classes": "Which classes a site owns",
    "shares": "How many of its images are of which class",
    "membership": "Whether one image was learned from",
}
ABOUT: dict[Question, str] = {
    "classes": "AUC: how often an owner of a class scores higher than a site without "
    "it; a guess has 0.50.",
    "shares": "Total variation: the share of the images that the guessed histogram "
    "puts into a wrong class; 0 is exact, the column *guess* is the best guess of who "
    "looks at nothing.",
    "membership": "AUC: how often an image that was learned from scores higher than "
    "one of the same class that was not; a guess has 0.50. Beside it how many are "
    "found at 1 % false alarms; a guess finds 1 %.",
}
THINGS = {
    MODEL: "model update",
    f"{STATISTIC}{DIVERSITY}": "diversities r",
    f"{STATISTIC}{CLASS_COUNT}": "class counts",
    COUNTS: "image counts",
    METRICS: "metrics",
    EVERYTHING: EVERYTHING,
}


@dataclass(frozen=True)
class Line:
    """One thing that a method sends, in all forms."""

    question: Question
    method: str
    site: str
    thing: str
    guess: float
    """What a guesser gets who looks at nothing."""
    forms: dict[str, Summary]


@dataclass(frozen=True)
class Summary:
    """One form over all seeds."""

    value: Estimate
    caught: Estimate | None
    attacker: str
    """The one that was the strongest most often."""
    guess: float
    better: bool
    """Whether the mean is better than a guess, and so is the whole interval."""


def forms_in(records: Sequence[Record]) -> list[str]:
    """List the forms that were tried, in their order."""
    made = {cell.form for record in records for cell in record.cells}
    scales = dict.fromkeys(record.scale for record in records)
    names = [form.name for s in scales for form in forms_of(s.sums, s.noise)]
    return [name for name in dict.fromkeys(names) if name in made]


def lines_of(records: Sequence[Record], question: Question) -> list[Line]:
    """Join the seeds: one line for each method and thing."""
    cells: dict[tuple[str, str, str], dict[str, list[Cell]]] = {}
    for record in records:
        for cell in record.cells:
            if cell.question == question:
                row = cells.setdefault((record.method, cell.site, cell.thing), {})
                row.setdefault(cell.form, []).append(cell)
    return [
        Line(
            question,
            *key,
            mean(c.baseline for some in forms.values() for c in some),
            {form: _summary(some) for form, some in forms.items()},
        )
        for key, forms in cells.items()
    ]


def _summary(cells: Sequence[Cell]) -> Summary:
    rates = [cell.caught for cell in cells if cell.caught is not None]
    value = estimate([cell.value for cell in cells])
    # Seeds differ in how hard it is to guess, so each is compared with its own guesser.
    less = cells[0].question == "shares"
    gains = [(c.baseline - c.value) * (1 if less else -1) for c in cells]
    return Summary(
        value,
        estimate(rates) if len(rates) == len(cells) else None,
        Counter(cell.attacker for cell in cells).most_common(1)[0][0],
        mean(cell.baseline for cell in cells),
        _above_zero(gains),
    )


def _above_zero(gains: Sequence[float]) -> bool:
    middle, reach = mean_and_reach(gains)
    return middle - (reach or 0.0) > 0


def head_of(records: Sequence[Record]) -> list[str]:
    """Name the columns of a table."""
    return ["method", "sent", "guess", *forms_in(records)]


def rows_of(records: Sequence[Record], question: Question) -> list[list[str]]:
    """Write the lines of a table as text."""
    forms, seeds = forms_in(records), seeds_in(records)
    return [
        [
            f"{line.method}, {line.site}{fewer(seeds[line.method], seeds)}",
            titled(line.thing),
            f"{line.guess:.2f}",
            *(_shown(line.forms.get(form)) for form in forms),
        ]
        for line in lines_of(records, question)
    ]


def seeds_in(records: Sequence[Record]) -> Counter[str]:
    """Count the seeds of each method."""
    return Counter(record.method for record in records)


def fewer(own: int, seeds: Counter[str]) -> str:
    """Say how many seeds there are where others have more."""
    words = "one seed" if own == 1 else f"{own} seeds"
    return "" if own == max(seeds.values()) else f" ({words})"


def titled(thing: str) -> str:
    """Name a thing as tables do; a statistic from outside has no other name."""
    return THINGS.get(thing, thing.removeprefix(STATISTIC))


def _shown(found: Summary | None) -> str:
    if found is None:
        return "–"
    rate = found.caught
    beside = "" if rate is None else f" ({ranged(rate, percent=True)})"
    return f"{ranged(found.value)}{beside}"


def ranged(value: Estimate, percent: bool = False) -> str:
    """Write a mean with half of its interval, as a number or in percent.

    >>> ranged(Estimate(3, 0.918, 0.85, 0.986)), ranged(Estimate(1, 0.5, None, None))
    ('0.92 ± 0.07', '0.50')
    >>> ranged(Estimate(3, 0.021, 0.01, 0.032), percent=True)
    '2.1 ± 1.1 %'
    """
    scale, places, unit = (100, 1, " %") if percent else (1, 2, "")
    text = f"{scale * value.mean:.{places}f}"
    if value.low is None or value.high is None:
        return f"{text}{unit}"
    reach = max(value.mean - value.low, value.high - value.mean)
    return f"{text} ± {scale * reach:.{places}f}{unit}"


def as_markdown(records: Sequence[Record]) -> str:
    """Write the tables of all questions."""
    parts = []
    for question in QUESTIONS:
        rows = rows_of(records, question)
        if rows:
            table = markdown_table(head_of(records), rows)
            parts.append(f"### {TITLES[question]}\n\n{ABOUT[question]}\n\n{table}")
    return "\n\n".join(parts)


_COLUMNS = (
    *("question", "method", "site", "sent", "form", "seeds", "mean", "low", "high"),
    *("guess", "caught at 1 %", "strongest attacker"),
)


def as_csv(records: Sequence[Record]) -> str:
    """Write all numbers, unrounded."""
    target = io.StringIO()
    writer = csv.writer(target, lineterminator="\n")
    writer.writerow(_COLUMNS)
    for question in QUESTIONS:
        for line in lines_of(records, question):
            for form, found in line.forms.items():
                value, caught = found.value, found.caught
                writer.writerow(
                    [
                        *(question, line.method, line.site, line.thing, form),
                        *(value.seeds, value.mean, value.low, value.high),
                        *(found.guess, caught and caught.mean, found.attacker),
                    ]
                )
    return target.getvalue()
