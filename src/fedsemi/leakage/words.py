"""What the tables mean, in sentences."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from fedsemi.leakage.answers import MODEL, STATISTIC
from fedsemi.leakage.lab import QUESTIONS, Question
from fedsemi.leakage.records import Record
from fedsemi.leakage.tables import Line, Summary, lines_of, titled

_TELLS: dict[Question, str] = {
    "classes": "a server that sees a site's {thing} tells an owner of a class from a "
    "site without it {value} of the time (a guess: {guess})",
    "shares": "a server that sees a site's {thing} guesses its class histogram with "
    "{value} of the images in a wrong class (who looks at nothing: {guess})",
    "membership": "a server that sees a site's {thing} tells an image that was learned "
    "from, from another one of its class, {value} of the time (a guess: {guess})",
}
NO_BETTER = "no better than a guess"
_SUM = "sum of "
_NOISY = " + noise"


def sentences(records: Sequence[Record]) -> list[str]:
    """Say for each question and method what the server can tell from what."""
    return [
        f"{line.method}: {_sentence(line)}."
        for question in QUESTIONS
        for line in lines_of(records, question)
        if line.thing == MODEL or line.thing.startswith(STATISTIC)
    ]


def _sentence(line: Line) -> str:
    first, *_ = line.forms.values()
    text = _TELLS[line.question].format(
        thing=titled(line.thing),
        value=f"{first.value.mean:.0%}",
        guess=f"{first.guess:.0%}",
    )
    beside = "" if first.better else f", which is {NO_BETTER}"
    return "; ".join([f"{text}{beside}", *_others(line.forms)])


def _others(forms: Mapping[str, Summary]) -> Iterator[str]:
    sums = [name for name in forms if name.startswith(_SUM) and _NOISY not in name]
    if "presence" in forms:
        yield f"from presence bits {_short(forms['presence'])}"
    if sums:
        sizes = ", ".join(name.removeprefix(_SUM) for name in sums)
        found = ", ".join(_short(forms[name]) for name in sums)
        yield f"from a sum over {sizes} sites {found}"
    if "noise" in forms:
        yield f"with noise {_short(forms['noise'])}"


def _short(found: Summary) -> str:
    return f"{found.value.mean:.0%}" if found.better else NO_BETTER
