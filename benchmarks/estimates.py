"""Is the estimate of right pseudo-labels right? Records for docs/seeing.md.

`python -m benchmarks.estimates` runs the config `digits` in three ways, with a fifth of
the labels held out, as far as `benchmarks/estimates.jsonl` lacks them, and writes the
table of the page. Not a part of `python -m benchmarks`: it measures no speed.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.common import ROOT
from benchmarks.numbers import Shown, add_record, read_records
from fedsemi.report.run import Run, read_run

RECORDS = ROOT / "benchmarks" / "estimates.jsonl"
PAGE = ROOT / "docs" / "seeing.md"
HELD_OUT = "evaluation.validation_fraction=0.2"
ROWS: Mapping[str, Sequence[str]] = {
    "`digits` as it is, 60 + 60 rounds": (),
    "hardly trained, 30 + 8 rounds": ("stages.0.rounds=30", "stages.1.rounds=8"),
    "unlike sites, `partition.dirichlet_alpha=0.1`": ("partition.dirichlet_alpha=0.1",),
}


def record_of(run: Run) -> dict[str, Any]:
    """Hold each estimate of a run against the truth of its client and round."""
    found = [
        (client.pseudo_label_estimate, client.pseudo_label_accuracy)
        for record in run.records
        for client in record.clients.values()
    ]
    pairs = [(e, t) for e, t in found if e is not None and t is not None]
    errors = [100 * (estimate.accuracy - truth) for estimate, truth in pairs]
    largest: float = max(errors, key=abs)
    wide = [100 * (estimate.high - estimate.low) for estimate, _ in pairs]
    return {
        "config_sha256": run.manifest["config_sha256"],
        "accuracy": run.summary["result"]["mean_of_last_10"]["accuracy"],
        "estimates": len(pairs),
        "inside": sum(e.low <= truth <= e.high for e, truth in pairs),
        "error": round(statistics.mean(errors), 2),
        "largest": round(largest, 2),
        "width": round(statistics.mean(wide), 2),
        "alarms": [[alarm.kind, alarm.round] for alarm in run.alarms],
    }


def table(records: Sequence[Mapping[str, Any]]) -> str:
    """Lay the records out."""
    lines = [
        "| run | test accuracy | truth inside the interval | estimate minus truth "
        "| farthest off | interval |",
        "|---|---|---|---|---|---|",
    ]
    for each in records:
        mean, most = (
            f"{each[name]:+.1f}".replace("-", "−") for name in ("error", "largest")
        )
        lines.append(
            f"| {each['run']} | {100 * each['accuracy']:.1f} % "
            f"| {each['inside']} of {each['estimates']} client-rounds "
            f"| {mean} points | {most} | {each['width']:.0f} points wide |"
        )
    return "\n".join(lines)


SHOWN = Shown(PAGE, "estimates", lambda: table(read_records(RECORDS)))


def main() -> None:
    done = [record["run"] for record in read_records(RECORDS)]
    for title, settings in ROWS.items():
        if title in done:
            continue
        with tempfile.TemporaryDirectory() as folder:
            out = Path(folder) / "run"
            command = [sys.executable, "-m", "fedsemi", "run", "digits"]
            for each in (HELD_OUT, *settings):
                command += ["--set", each]
            subprocess.run([*command, "--out", str(out)], check=True)
            add_record(RECORDS, {"run": title, **record_of(read_run(out))})
    SHOWN.write()


if __name__ == "__main__":
    main()
