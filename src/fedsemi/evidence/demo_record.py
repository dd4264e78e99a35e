"""What `fedsemi demo` ended in, kept as a small record that README is written from.

`python -m fedsemi.evidence.demo_record runs/demo` keeps a finished demo.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from fedsemi.evidence.stats import gap_closed
from fedsemi.storage import write_whole

RECORD = Path("results/demo.json")
_RUNS = ("lower-bound", "semianagg", "upper-bound")


def keep(demo: Path, record: Path) -> None:
    """Write the seed and the three accuracies of a demo's folder."""
    ended = {name: _read(demo / name / "summary.json") for name in _RUNS}
    seed = _read(demo / "semianagg" / "config.json")["seed"]
    accuracy = {
        name: round(summary["result"]["mean_of_last_10"]["accuracy"], 4)
        for name, summary in ended.items()
    }
    text = json.dumps({"seed": seed, "accuracy": accuracy}, indent=1)
    write_whole(record, f"{text}\n".encode())


def sentence(record: Path) -> str:
    """Say what the demo ended in, and which share of the gap that is."""
    found = _read(record)
    lower, ours, upper = (100 * found["accuracy"][name] for name in _RUNS)
    closed = gap_closed(ours, lower, upper) or 0.0
    return (
        f"What to expect: `make demo` (seed {found['seed']}) ended with {lower:.1f} % "
        f"for the labeled-only lower bound, {ours:.1f} % for SemiAnAgg and "
        f"{upper:.1f} % with all labels (mean accuracy of the last ten rounds, guard "
        f"off), so {100 * closed:.0f} % of the gap is closed."
    )


def _read(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(path.read_text("utf-8"))
    return found


if __name__ == "__main__":
    keep(Path(sys.argv[1]), RECORD)
