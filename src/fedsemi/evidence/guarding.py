"""Say whether the guard was on when records were made, and what it did to Eq. 4."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from fedsemi.evidence.records import Record

_BY_DIVERSITY = ("semianagg", "permuted-semi")
_OF_SHARES = ("FS2109", "FS2140", "FS2141", "FS2142")
"""What the guard does to shares and to claims that make them; FS2107 shortens steps."""
_ROUNDING = 0.001
"""More than the four digits of nine shares can add up to."""


def guarded(record: Record) -> bool:
    """Tell whether a record was made with the guard on."""
    return bool(record["config"]["guard"]["enabled"])


def guard_caption(records: Iterable[Record]) -> str:
    """Name the guard's state in a sentence; nothing if there is no record."""
    every = list(records)
    on = [record for record in every if guarded(record)]
    if not every:
        return ""
    if not on:
        return "Guard off: shares are those that each method defines."
    some = "" if len(on) == len(every) else f" ({len(on)} of {len(every)} runs)"
    return (
        f"Made with the guard on{some}, {_cuts(on)} and may have shortened steps: not "
        "the published methods, and not cited."
    )


def cut_rounds(record: Record) -> tuple[int, int]:
    """Count the recorded rounds in which shares of Eq. 4 were cut, and all of them.

    Records from before cuts were kept say it by what the shares leave over.
    """
    stage = record["config"]["stages"][-1]
    if stage["method"] not in _BY_DIVERSITY or stage["rule"] != "paper":
        return 0, 0
    if "cuts" not in record:
        return _left_over(record, stage)
    last = len(record["config"]["stages"]) - 1
    found = {
        cut["round"]
        for cut in record["cuts"]
        if cut["stage"] == last and cut["code"] in _OF_SHARES
    }
    return len(found), stage["rounds"]


def _left_over(record: Record, stage: Mapping[str, Any]) -> tuple[int, int]:
    clients = record["clients"]
    shares: Sequence[Sequence[float | None]] = list(clients["contribution"].values())
    # Clients with labels only are not listed; together they have the labeled share.
    partial = len(shares) == len(record["owns"])
    whole = 1.0 if partial else 1.0 - stage["labeled_share"]
    sums = [sum(share or 0.0 for share in each) for each in zip(*shares, strict=True)]
    # Where nobody has pseudo-labels, labels get everything: nothing was cut.
    return sum(0 < each < whole - _ROUNDING for each in sums), len(sums)


def _cuts(records: Sequence[Record]) -> str:
    cut, seen = Counter[str](), Counter[str]()
    for record in records:
        fewer, rounds = cut_rounds(record)
        cut[record["dataset"]] += fewer
        seen[record["dataset"]] += rounds
    parts = [f"{name} {cut[name]} of {seen[name]}" for name in seen if seen[name]]
    if not parts:
        return "which cuts Eq. 4's shares (of no run here)"
    return f"which cut Eq. 4's shares in some rounds ({', '.join(parts)})"
