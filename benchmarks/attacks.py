"""Measure every attack against every aggregation and write docs/attacks.md.

python benchmarks/attacks.py run --seed 1     # and --seed 2, at the same time
python benchmarks/attacks.py run --seed 1 --aggregation fedavg    # or one by one
python benchmarks/attacks.py table
"""

from __future__ import annotations

import argparse
import json
import math
from collections import Counter
from dataclasses import asdict
from itertools import groupby
from pathlib import Path

from fedsemi.config import load_config
from fedsemi.engines.in_process import one_thread
from fedsemi.simulation.attack_suite import (
    AGGREGATIONS,
    HONEST,
    LAST,
    Outcome,
    run_suite,
    table_rows,
)
from fedsemi.simulation.attacks import ATTACKS

HERE = Path(__file__).parent
OUT = HERE.parent / "runs" / "attacks"
RECORDS = HERE / "attacks"
PAGE = HERE.parent / "docs" / "attacks.md"


def run(seed: int, aggregations: tuple[str, ...]) -> None:
    """Run the suite for one seed; keep what is done with each aggregation."""
    experiment = load_config(HERE / "attacks.toml", [f"seed={seed}"])
    with one_thread():
        suite = run_suite(experiment, ATTACKS, aggregations, OUT)
        for aggregation, outcomes in groupby(suite, key=lambda o: o.aggregation):
            lines = [json.dumps(asdict(outcome)) for outcome in outcomes]
            path = RECORDS / f"{aggregation}-{seed}.jsonl"
            path.write_text("\n".join(lines) + "\n", "utf-8")


def recorded() -> list[Outcome]:
    """Read what was run, aggregation by aggregation."""
    files = [p for a in AGGREGATIONS for p in sorted(RECORDS.glob(f"{a}-[0-9]*.jsonl"))]
    lines = [line for file in files for line in file.read_text("utf-8").splitlines()]
    return [Outcome(**json.loads(line)) for line in lines]


def complete(outcomes: list[Outcome]) -> list[Outcome]:
    """Leave out what has not been run both guarded and not."""
    count = Counter((o.seed, o.aggregation, o.attack) for o in outcomes)
    return [o for o in outcomes if count[o.seed, o.aggregation, o.attack] == 2]


def page(outcomes: list[Outcome]) -> str:
    """Write the table of all seeds."""
    seeds = {
        aggregation: sorted({o.seed for o in outcomes if o.aggregation == aggregation})
        for aggregation in AGGREGATIONS
    }
    warm_up, attacked = (s.rounds for s in load_config(HERE / "attacks.toml").stages)
    lines = [
        "# Attacks, measured",
        "",
        "One hostile site of nine without labels, digits (8 × 8), resnet8 of width 8, "
        f"{warm_up} rounds of warm-up on the one labeled site, then {attacked} under "
        "attack; "
        "mean of the seeds in brackets. *Lost* is in points of balanced accuracy, mean "
        f"of the last {LAST} rounds, "
        "against the same aggregation without attack and without guard; "
        "*share* is the attacker's mean share of the model; *dropped* counts refused "
        "replies. Made by `python benchmarks/attacks.py table`; the reading is in "
        "[robustness.md](robustness.md).",
        "",
        "| aggregation | attack | lost, guard off | share, off | lost, guard on "
        "| share, on | dropped |",
        "|---|---|--:|--:|--:|--:|--:|",
    ]
    for row in table_rows(outcomes):
        tried = ", ".join(map(str, seeds[row["aggregation"]]))
        clean = f" ({row['clean']:.1%}; {tried})" if row["attack"] == HONEST else ""
        lines.append(
            f"| {row['aggregation']} | {row['attack']}{clean} "
            f"| {100 * row['lost_off']:.1f} | {_share(row['share_off'])} "
            f"| {100 * row['lost_on']:.1f} | {_share(row['share_on'])} "
            f"| {row['dropped_on']:.1f} |"
        )
    return "\n".join(lines) + "\n"


def _share(value: float) -> str:
    """Write a share; a mean over NaN has none."""
    return f"{value:.1%}" if math.isfinite(value) else "–"


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["run", "table"])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--aggregation", action="append", choices=[*AGGREGATIONS])
    arguments = parser.parse_args()
    if arguments.what == "run":
        run(arguments.seed, tuple(arguments.aggregation or AGGREGATIONS))
        return
    PAGE.write_text(page(complete(recorded())), "utf-8")


if __name__ == "__main__":
    main()
