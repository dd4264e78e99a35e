"""What `fedsemi demo` ended in, kept as small records that pages are written from.

`python -m fedsemi.evidence.demo_record runs/demo` keeps a finished demo, also one of
another draw (`fedsemi demo --set seed=2`); with the name of a processor behind it, one
that was made on another kind than the others.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from fedsemi.evidence.stats import gap_closed
from fedsemi.storage import make_folder, write_whole

FOLDER = Path("results/demo")
SEED = 1
"""Of the demo as it is shipped."""
_ELSEWHERE = "elsewhere"
_RUNS = ("lower-bound", "semianagg", "upper-bound")


def keep(demo: Path, records: Path, processor: str = "") -> None:
    """Write the seed and the three accuracies of a demo's folder.

    A processor is named where it is of another kind than that of the usual records:
    bits differ there, and labels alone swing from round to round.
    """
    ended = {name: _read(demo / name / "summary.json") for name in _RUNS}
    seed = _read(demo / "semianagg" / "config.json")["seed"]
    accuracy = {
        name: round(summary["result"]["mean_of_last_10"]["accuracy"], 4)
        for name, summary in ended.items()
    }
    made = {"seed": seed, "accuracy": accuracy}
    if processor:
        made |= {"processor": processor}
        records = make_folder(records / _ELSEWHERE)
    text = json.dumps(made, indent=1)
    write_whole(records / f"{seed}.json", f"{text}\n".encode())


def sentence(records: Path) -> str:
    """Say what the demo ended in, and which share of the gap that is."""
    found = _all(records)
    lower, ours, upper, closed = _scores(found[:1])
    beside = {
        "other draws": found[1:],
        "another kind of processor": _all(records / _ELSEWHERE),
    }
    told = [
        f"{k}: {100 * _scores(some)[-1]:.0f} %" for k, some in beside.items() if some
    ]
    other = f" ({'; '.join(told)})" if told else ""
    return (
        f"What to expect: `make demo` (seed {SEED}) ended with {lower:.1f} % "
        f"for the labeled-only lower bound, {ours:.1f} % for SemiAnAgg and "
        f"{upper:.1f} % with all labels (mean accuracy of the last ten rounds, guard "
        f"off), so {100 * closed:.0f} % of the gap is closed{other}."
    )


def draws(records: Path) -> str:
    """Lay out the demo as it is shipped, and other draws of the same."""
    found = _all(records)
    rows = [(str(each["seed"]), [each]) for each in found]
    if found[2:]:
        rows.append(("mean of the others", found[1:]))
    for each in _all(records / _ELSEWHERE):
        rows.append((f"{each['seed']}, on {each['processor']}", [each]))
    lines = ["| seed | labels only | SemiAnAgg | all labels | gap closed |"]
    lines.append("|---|--:|--:|--:|--:|")
    for title, some in rows:
        *scores, closed = _scores(some)
        cells = [f"{score:.1f}" for score in scores]
        lines.append(f"| {title} | {' | '.join(cells)} | {100 * closed:.0f} % |")
    return "\n".join(lines)


def _all(records: Path) -> list[dict[str, Any]]:
    """Read all draws, the one that is shipped first."""
    found = [_read(path) for path in records.glob("*.json")]
    return sorted(found, key=lambda each: (each["seed"] != SEED, each["seed"]))


def _scores(found: Sequence[dict[str, Any]]) -> tuple[float, float, float, float]:
    """Return mean accuracies in percent, and the share of the gap between them."""
    lower, ours, upper = (
        100 * fmean(each["accuracy"][name] for each in found) for name in _RUNS
    )
    return lower, ours, upper, gap_closed(ours, lower, upper) or 0.0


def _read(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(path.read_text("utf-8"))
    return found


if __name__ == "__main__":
    keep(Path(sys.argv[1]), FOLDER, *sys.argv[2:3])
