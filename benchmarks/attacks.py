"""Measure every attack against every aggregation and write docs/attacks.md.

python -m benchmarks.attacks run --seed 1 --clients 3      # and --clients 10
python -m benchmarks.attacks run --seed 1 --aggregation fedavg    # or one by one
python -m benchmarks.lonely --seed 1
python -m benchmarks.attacks table
"""

from __future__ import annotations

import argparse
import json
import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict
from itertools import groupby
from pathlib import Path
from statistics import fmean

from benchmarks.lonely import Case
from fedsemi.config.experiment import load_config
from fedsemi.engines.in_process import one_thread
from fedsemi.simulation.attack_suite import (
    AGGREGATIONS,
    HONEST,
    LAST,
    Outcome,
    run_suite,
    table_rows,
)

HERE = Path(__file__).parent
OUT = HERE.parent / "runs" / "attacks"
RECORDS = HERE / "attacks"
MEASURED = ("scaled", "flip+lie", "just-under", "drift", "pair", "trigger")
"""What passes the gate; the other attacks of the suite are refused there."""
_MOST = 0.05
MAIN = ("semianagg", "fedavg-semi", "fedavg", "uniform-semi", "cbafed", "rscfed")
PAGE = HERE.parent / "docs" / "attacks.md"


def run(seed: int, clients: int, aggregations: tuple[str, ...]) -> None:
    """Run the suite for one seed; keep every outcome at once."""
    settings = [f"seed={seed}", f"partition.num_clients={clients}"]
    experiment = load_config(HERE / "attacks.toml", settings)
    RECORDS.mkdir(exist_ok=True)
    with one_thread():
        suite = run_suite(experiment, MEASURED, aggregations, OUT / str(clients))
        for aggregation, outcomes in groupby(suite, key=lambda o: o.aggregation):
            path = RECORDS / f"{aggregation}-{clients}-{seed}.jsonl"
            with path.open("w", encoding="utf-8", buffering=1) as file:
                for outcome in outcomes:
                    file.write(json.dumps(asdict(outcome)) + "\n")


def recorded() -> list[Outcome]:
    """Read what was run, aggregation by aggregation."""
    files = [
        p
        for a in AGGREGATIONS
        for p in sorted(RECORDS.glob(f"{a}-[0-9]*-[0-9]*.jsonl"))
    ]
    lines = [line for file in files for line in file.read_text("utf-8").splitlines()]
    return [Outcome(**json.loads(line)) for line in lines]


def lonely_cases() -> list[Case]:
    """Read what was run of the site that alone has classes."""
    files = sorted(RECORDS.glob("lonely-*.jsonl"))
    lines = [line for file in files for line in file.read_text("utf-8").splitlines()]
    return [Case(**json.loads(line)) for line in lines]


def complete(outcomes: list[Outcome]) -> list[Outcome]:
    """Leave out what has not been run both guarded and not."""
    count = Counter((o.seed, o.aggregation, o.attack, o.clients) for o in outcomes)
    return [
        o for o in outcomes if count[o.seed, o.aggregation, o.attack, o.clients] == 2
    ]


def page(outcomes: list[Outcome], cases: list[Case]) -> str:
    """Write the tables of all seeds."""
    warm_up, attacked = (s.rounds for s in load_config(HERE / "attacks.toml").stages)
    lines = [
        "# Attacks, measured",
        "",
        "Digits (8 × 8, 700 of them), resnet8 of width 8, one labeled site that holds "
        f"a quarter of its labels out, {warm_up} rounds of warm-up on the rest, then "
        f"{attacked} under attack by the largest site without labels (`pair`: by the "
        "two largest). The gate is on everywhere: *guard off* means gate only. *Lost* "
        "is in points of balanced accuracy, mean of the last "
        f"{LAST} rounds, against the same aggregation without attack and without "
        "guard; **more than five points with the guard are bold**. *Share* is the "
        "attackers' mean share of the model, *back* how often the guard took a model "
        "back, *trigger* how many marked test images the last model takes for the "
        "target (in the line `none`: without any attack). Made by `python "
        "-m benchmarks.attacks table`; the reading is in "
        "[robustness.md](robustness.md).",
    ]
    for clients in sorted({o.clients for o in outcomes}):
        some = [o for o in outcomes if o.clients == clients]
        lines += ["", f"## One labeled site and {clients - 1} without labels", ""]
        lines += [*_HEAD, *_rows(some)]
    return "\n".join([*lines, *_lonely(cases)]) + "\n"


_HEAD = (
    "| aggregation | attack | lost, guard off | share, off | lost, guard on "
    "| share, on | back | trigger, off | on |",
    "|---|---|--:|--:|--:|--:|--:|--:|--:|",
)


def _rows(outcomes: list[Outcome]) -> Iterator[str]:
    for row in table_rows(outcomes):
        name = row["aggregation"]
        seeds = sorted({o.seed for o in outcomes if o.aggregation == name})
        tried = "seeds " + ", ".join(map(str, seeds)) if seeds[1:] else "one seed"
        clean = f" ({row['clean']:.1%}; {tried})" if row["attack"] == HONEST else ""
        lost = f"{100 * row['lost_on']:.1f}"
        yield (
            f"| {name} | {row['attack']}{clean} "
            f"| {100 * row['lost_off']:.1f} | {_share(row['share_off'])} "
            f"| {f'**{lost}**' if row['lost_on'] > _MOST else lost} "
            f"| {_share(row['share_on'])} | {row['returned_on']:.1f} "
            f"| {_share(row['success_off'])} | {_share(row['success_on'])} |"
        )


def _lonely(cases: list[Case]) -> Iterator[str]:
    if not cases:
        return
    seeds = ", ".join(map(str, sorted({case.seed for case in cases})))
    yield from (
        "",
        "## Both sides of the cap",
        "",
        "SemiAnAgg, digits, one labeled site (140 labels, 60 held out), nine without "
        "labels of 60 images each; one of these alone has the digits 5 to 9. Shares "
        f"of the whole model in the last {LAST} of 12 rounds, seeds {seeds}; made by "
        "`python -m benchmarks.lonely`. *Cap only* is the guard without held-out "
        "labels, which is the fixed cap of two fair shares (0.111) of earlier "
        "releases.",
        "",
        "| the other site | rule | lonely site's share | other site's share "
        "| balanced accuracy | back |",
        "|---|---|--:|--:|--:|--:|",
    )
    for attack, rule in dict.fromkeys((c.attack, c.rule) for c in cases):
        same = [c for c in cases if (c.attack, c.rule) == (attack, rule)]
        yield (
            f"| {'honest' if attack == HONEST else attack} | {rule} "
            f"| {fmean(c.lonely for c in same):.3f} "
            f"| {fmean(c.liar for c in same):.3f} "
            f"| {fmean(c.balanced_accuracy for c in same):.1%} "
            f"| {fmean(c.returned for c in same):.1f} |"
        )


def _share(value: float | None) -> str:
    """Write a share; a mean over NaN has none."""
    if value is None:
        return ""
    return f"{value:.1%}" if math.isfinite(value) else "–"


def written() -> str:
    """Write the page of all records."""
    return page(complete(recorded()), lonely_cases())


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["run", "table"])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--clients", type=int, default=3, choices=[3, 10])
    parser.add_argument("--aggregation", action="append", choices=[*AGGREGATIONS])
    arguments = parser.parse_args()
    if arguments.what == "run":
        chosen = tuple(arguments.aggregation or MAIN)
        run(arguments.seed, arguments.clients, chosen)
        return
    PAGE.write_text(written(), "utf-8")


if __name__ == "__main__":
    main()
