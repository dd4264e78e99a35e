"""Does each newer method learn under its own card? Records for docs/methods.md.

`python -m benchmarks.cards` runs the configs `cards/NAME` and labels alone beside each,
as far as `benchmarks/cards.jsonl` lacks them, and writes the tables of the page. Not a
part of `python -m benchmarks`: it measures learning, not speed.
"""

from __future__ import annotations

import argparse
import statistics
from collections.abc import Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

from benchmarks.common import ROOT
from benchmarks.numbers import Shown, add_record, read_records
from fedsemi.config.experiment import Experiment, load_config
from fedsemi.simulation.build import build
from fedsemi.simulation.run import run_simulation

RECORDS = ROOT / "benchmarks" / "cards.jsonl"
PAGE = ROOT / "docs" / "methods.md"
CONFIGS = Path(str(files("fedsemi"))) / "configs" / "cards"
ROUNDS = 20
LAST = 10
"""Tests at the end of a run whose mean is its score."""

STATIC = 'stages.0.batch_norm="static"'
ROWS: Mapping[str, Mapping[str, tuple[str, str]]] = {
    "LAC": {
        "`feddb`, exact shares": ("feddb", ""),
        "`sage`": ("sage", ""),
        "`proxyfl`": ("proxyfl", ""),
        "`fedmatch`": ("fedmatch", ""),
    },
    "LS": {
        "`semifl`": ("semifl", ""),
        "`semifl`, static batch norm": ("semifl", STATIC),
        "`fl2`": ("fl2", ""),
    },
    "LPC": {"`twin-sight`": ("twin-sight", "")},
}
"""For each card the configs, and what is set beside what they say."""
FASTER = {"fedmatch": "local.lr_labeled=0.1"}
"""Labels alone beside FedMatch, whose loss weighs labels ten times."""


def runs() -> list[tuple[str, str, bool]]:
    """List what is run: a config, what is set beside it, and if labels alone."""
    rows = [row for card in ROWS.values() for row in card.values()]
    alone = list(dict.fromkeys(name for name, _ in rows))
    return [(*row, False) for row in rows] + [(name, "", True) for name in alone]


def experiment_of(name: str, setting: str, alone: bool, seed: int) -> Experiment:
    """Read a config as it is run here."""
    more = [f"seed={seed}"]
    if alone:
        more += [f'stages=[{{method="supervised",rounds={ROUNDS}}}]']
        more += [FASTER[name]] if name in FASTER else []
    elif setting:
        more.append(setting)
    return load_config(CONFIGS / f"{name}.toml", more)


def score_of(experiment: Experiment) -> float:
    """Run it and return the mean accuracy of its last tests."""
    steps = run_simulation(build(experiment, None))
    tests = [step.record.test for step in steps if step.record.test is not None]
    return statistics.mean(test.accuracy for test in tests[-LAST:])


def tables(records: Sequence[Mapping[str, Any]]) -> str:
    """Lay the records out, a table for each card."""
    return "\n\n".join(_table(card, records) for card in ROWS)


def _table(card: str, records: Sequence[Mapping[str, Any]]) -> str:
    lines = [f"| under {card} | accuracy, % | labels alone |", "|---|---|---|"]
    for title, (name, setting) in ROWS[card].items():
        ours, alone = (
            [
                100 * record["accuracy"]
                for record in records
                if (record["config"], record["set"], record["alone"]) == key
            ]
            for key in ((name, setting, False), (name, "", True))
        )
        faster = f", with `{FASTER[name]}`" if name in FASTER else ""
        lines.append(f"| {title} | {_each(ours)} | {_each(alone)}{faster} |")
    return "\n".join(lines)


def _each(values: Sequence[float]) -> str:
    return " · ".join(f"{value:.1f}" for value in values) or "not run"


SHOWN = Shown(PAGE, "cards", lambda: tables(read_records(RECORDS)))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", default="1")
    given = parser.parse_args()
    known = read_records(RECORDS)
    done = {(r["config"], r["set"], r["alone"], r["seed"]) for r in known}
    for seed in map(int, given.seeds.split(",")):
        for name, setting, alone in runs():
            if (name, setting, alone, seed) in done:
                continue
            experiment = experiment_of(name, setting, alone, seed)
            record = {
                "config": name,
                "set": setting,
                "alone": alone,
                "seed": seed,
                "config_sha256": experiment.sha256,
                "accuracy": round(score_of(experiment), 4),
            }
            add_record(RECORDS, record)
            print(record, flush=True)
    SHOWN.write()


if __name__ == "__main__":
    main()
