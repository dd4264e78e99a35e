"""The table of docs/protocol.md: what was tried before the demo got its setting."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from benchmarks.common import ROOT
from benchmarks.numbers import Shown, read_records

RECORDS = ROOT / "benchmarks" / "demo-choosing.jsonl"
PAGE = ROOT / "docs" / "protocol.md"


def table(records: Sequence[Mapping[str, Any]]) -> str:
    """Lay the records out, seeds beside each other."""
    lines = [
        "| what was tried | seeds | accuracy | running mean |",
        "|---|---|---|---|",
    ]
    for arm in dict.fromkeys(record["arm"] for record in records):
        own = [record for record in records if record["arm"] == arm]
        seeds = ", ".join(str(record["seed"]) for record in own)
        scores = [
            ", ".join(f"{record[name]:.1f}" for record in own)
            for name in ("accuracy", "running_mean_accuracy")
        ]
        lines.append(f"| {arm} | {seeds} | {' | '.join(scores)} |")
    return "\n".join(lines)


SHOWN = Shown(PAGE, "demo", lambda: table(read_records(RECORDS)))


if __name__ == "__main__":
    SHOWN.write()
