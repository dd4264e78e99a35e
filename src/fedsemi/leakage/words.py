"""What the tables mean, in sentences."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from fedsemi.leakage.answers import MODEL, STATISTIC
from fedsemi.leakage.lab import QUESTIONS, Question
from fedsemi.leakage.records import Record
from fedsemi.leakage.tables import Line, Summary, fewer, lines_of, seeds_in, titled

_TELLS: dict[Question, str] = {
    "classes": "a server that sees a site's {thing} tells an owner of a class from a "
    "site without it {value} of the time (a guess: {guess})",
    "shares": "a server that sees a site's {thing} guesses its class histogram with "
    "{value} of the images in a wrong class (who looks at nothing: {guess})",
    "membership": "a server that sees a site's {thing} tells an image that was learned "
    "from, from another one of its class, {value} of the time (a guess: {guess})",
}
NO_BETTER = "not told apart from a guess"
_SUM = "sum of "
_NOISY = " + noise"


def sentences(
    records: Sequence[Record], questions: Sequence[Question] = QUESTIONS
) -> list[str]:
    """Say for each question and method what the server can tell from what."""
    seeds = seeds_in(records)
    return [
        f"{line.method}{fewer(seeds[line.method], seeds)}: {_sentence(line)}."
        for question in questions
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
        found = [_short(forms[name]) for name in sums]
        said = found[:1] if set(found) == {NO_BETTER} else found
        yield f"from a sum over {sizes} sites {', '.join(said)}"
    if "noise" in forms:
        yield f"with noise {_short(forms['noise'])}"


def _short(found: Summary) -> str:
    return f"{found.value.mean:.0%}" if found.better else NO_BETTER
