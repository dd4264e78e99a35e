"""A benchmark in words: its table as text, Markdown and CSV, and what it decides."""

from __future__ import annotations

import csv
import io

from fedsemi.cards import CARDS
from fedsemi.evidence.benchmark import Benchmark, title_of
from fedsemi.evidence.captions import described
from fedsemi.evidence.guarding import guard_caption
from fedsemi.evidence.layout import titled
from fedsemi.evidence.numbers import short
from fedsemi.evidence.records import TESTS, Record
from fedsemi.evidence.render import markdown_table
from fedsemi.evidence.results import Evidence
from fedsemi.evidence.standing import Row, Standing
from fedsemi.evidence.stats import Spread, reach_of

ELSEWHERE = "†"
"""Marks a method that is made for other cards."""


def heading(benchmark: Benchmark) -> str:
    """Say what is compared."""
    card = CARDS[benchmark.card]
    return f"{card.name} on {titled(benchmark.dataset)}: {card.title}"


def head_of(benchmark: Benchmark, short_names: bool = False) -> tuple[str, ...]:
    """Name the columns; shortly where there is little room."""
    reference = "reference" if short_names else title_of(benchmark.reference)
    scores = ("Acc", "B-Acc", f"Acc − {reference}")
    return ("method", "seeds", *scores, "rank", "CPU min", "MB sent")


def cells_of(row: Row, reference: str, short_names: bool = False) -> tuple[str, ...]:
    """Write a row, a cell for each column."""
    name = row.arm if short_names else row.title
    name = name if row.made_for else f"{name} {ELSEWHERE}"
    if row.accuracy is None:
        return (name, "0", *["–"] * 6)
    against = "–" if row.against is None else short(row.against)
    return (
        name,
        str(row.accuracy.n),
        _mean(row.accuracy),
        _mean(row.balanced),
        "reference" if row.arm == reference else against,
        "–" if row.rank is None else f"{row.rank:.2f}",
        "–" if row.seconds is None else f"{row.seconds / 60:.1f}",
        "–" if row.bytes_sent is None else f"{row.bytes_sent / 1e6:,.0f}",
    )


def _mean(found: Spread | None) -> str:
    if found is None:
        return "–"
    reach = reach_of(found)
    return f"{found.mean:.1f}" if reach is None else f"{found.mean:.1f} ± {reach:.1f}"


def caption(found: Standing, evidence: Evidence) -> str:
    """Say what the numbers are."""
    clock = "CPU minutes of the fastest seed after the warm-up"
    if any(row.unclocked for row in found.rows):
        clock += " (of those whose record has them)"
    text = (
        f"In percent, mean of the last {TESTS} tests ± half of the 95 % interval over "
        f"seeds (Student's t); differences are paired by seed, intervals in brackets, "
        f"not corrected for their number. Cost: {clock}; megabytes that all who take "
        f"part sent in these rounds. Profile {evidence.source.name}."
    )
    if any(row.bound and row.accuracy for row in found.rows):
        text += (
            " Labels alone: cost of all their rounds, warm-up included, in each of "
            "which all take part who have labels."
        )
    if any(not row.made_for for row in found.rows):
        text += f" {ELSEWHERE}: made for another card than {found.benchmark.card}."
    return text


def findings(found: Standing) -> list[str]:
    """Say what ranks and intervals decide."""
    reference = title_of(found.benchmark.reference)
    tested = [row for row in found.rows if row.against and not row.bound]
    by_side: dict[str, list[str]] = {"ahead": [], "behind": [], "undecided": []}
    for row in tested:
        assert row.against is not None
        by_side.setdefault(row.against.verdict, []).append(row.title)
    parts = [f"{side}: {'; '.join(some)}" for side, some in by_side.items() if some]
    first = f"Against {reference}, each by its own interval, {'. '.join(parts)}."
    lines = [first] if tested else []
    lines += found.ranking.sentences
    apart = [f"{a} before {b}" for a, b in found.ranking.apart]
    if apart:
        lines.append(f"Told apart by rank: {'; '.join(apart)}.")
    return [*lines, _SCOPE]


_SCOPE = (
    "Seeds are draws of who has what and of the first weights on one data set; nothing "
    "is said of others. No method was tuned here: all have the profile's local "
    "settings and rounds, and the constants of their own papers."
)


def remarks(found: Standing, evidence: Evidence) -> list[str]:
    """Describe what was run, and whether the guard was on."""
    records: list[Record] = [
        record
        for each in found.benchmark.settings
        for record in evidence.found(each).values()
    ]
    if not records:
        return []
    dataset = found.benchmark.dataset
    card = CARDS[found.benchmark.card]
    return [
        f"{card.name}: {card.labels}.",
        f"{titled(dataset)}: {described(records, dataset)}",
        guard_caption(records),
    ]


def as_markdown(found: Standing, evidence: Evidence, picture: str) -> str:
    """Write the benchmark as Markdown, with the picture of its ranks."""
    reference = found.benchmark.reference
    rows = [cells_of(row, reference) for row in found.rows]
    parts = [
        markdown_table(head_of(found.benchmark), rows),
        caption(found, evidence),
        *([f"![Average ranks]({picture})"] if found.ranking.ranks else []),
        " ".join(findings(found)),
        "\n".join(f"- {each}" for each in remarks(found, evidence)),
    ]
    return "\n\n".join(part for part in parts if part)


def as_csv(found: Standing) -> str:
    """Write the rows with numbers unrounded."""
    target = io.StringIO()
    rows = [_numbers(found.benchmark, row) for row in found.rows]
    writer = csv.DictWriter(target, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return target.getvalue()


def _numbers(benchmark: Benchmark, row: Row) -> dict[str, object]:
    against, accuracy = row.against, row.accuracy
    return {
        "card": benchmark.card,
        "dataset": benchmark.dataset,
        "method": row.arm,
        "made_for_card": row.made_for,
        "seeds": accuracy.n if accuracy else 0,
        "accuracy": accuracy and accuracy.mean,
        "accuracy_interval": accuracy and reach_of(accuracy),
        "balanced_accuracy": row.balanced and row.balanced.mean,
        "balanced_accuracy_interval": row.balanced and reach_of(row.balanced),
        "reference": benchmark.reference,
        "difference": against and against.mean,
        "difference_low": against and against.low,
        "difference_high": against and against.high,
        "rank": row.rank,
        "seconds": row.seconds,
        "bytes_sent": row.bytes_sent,
    }
