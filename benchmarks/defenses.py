"""Attacks on a federation with more held-out labels, and on one with masks.

python -m benchmarks.defenses          # what has no record, then docs/robustness.md
                                       # and docs/privacy.md
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import fmean
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.common import ROOT
from benchmarks.numbers import Shown, add_record, read_records
from fedsemi.config.experiment import Experiment, load_config
from fedsemi.engines.in_process import one_thread
from fedsemi.simulation.attack_suite import HONEST, Outcome, run_suite

CONFIG = ROOT / "benchmarks" / "attacks.toml"
RECORDS = ROOT / "benchmarks" / "attacks" / "defenses.jsonl"
HELD_OUT = "more held-out labels"
_MOST = 5.0
"""Points that an attack may cost; more is bold."""


@dataclass(frozen=True)
class Suite:
    """What is attacked, and how."""

    settings: tuple[str, ...]
    attacks: tuple[str, ...] = ("flip", "scaled")
    aggregations: tuple[str, ...] = ("semianagg",)
    seeds: tuple[int, ...] = (1, 2, 3)

    def experiment(self, seed: int) -> Experiment:
        """Return what is run with that seed."""
        return load_config(CONFIG, [f"seed={seed}", *self.settings])


_TEN = "partition.num_clients=10"
_MASKED = (_TEN, "privacy.masked=true", "privacy.plain_warm_up=true")
SUITES = {
    HELD_OUT: Suite(
        (
            "partition.num_clients=3",
            "data.train_limit=1400",
            "evaluation.validation_fraction=0.5",
        ),
        ("flip+lie", "just-under", "scaled", "drift", "trigger"),
        ("semianagg", "fedavg", "fedavg-semi", "uniform-semi", "cbafed"),
        (1,),
    ),
    "plain": Suite((_TEN,)),
    "masked, `clip = 100`": Suite((*_MASKED, "privacy.clip=100")),
    "masked, `clip = 1`": Suite((*_MASKED, "privacy.clip=1")),
    "masked, `clip = 100`, `groups = 3`": Suite(
        (*_MASKED, "privacy.clip=100", "privacy.groups=3")
    ),
    "masked, `clip = 1`, `groups = 3`": Suite(
        (*_MASKED, "privacy.clip=1", "privacy.groups=3")
    ),
}
Records = Sequence[dict[str, Any]]


def held_out_table(records: Records) -> str:
    """Lay out the points that are lost, guard off and on."""
    own = _of(records, HELD_OUT)
    score = {(o.aggregation, o.attack, o.guard): o.balanced_accuracy for o in own}
    suite = SUITES[HELD_OUT]
    clean = {name: score[name, HONEST, False] for name in suite.aggregations}
    heads = [f"{name} ({value:.1%})" for name, value in clean.items()]
    lines = [f"| attack | {' | '.join(heads)} |", f"|---|{'--:|' * len(heads)}"]
    for attack in (HONEST, *suite.attacks):
        cells = []
        for name in suite.aggregations:
            off, on = (
                100 * (clean[name] - score[name, attack, guard])
                for guard in (False, True)
            )
            cells.append(f"{_points(off)}, {_points(on, most=_MOST)}")
        lines.append(f"| {attack} | {' | '.join(cells)} |")
    return "\n".join(lines)


def masked_table(records: Records) -> str:
    """Lay out balanced accuracies, seed by seed."""
    heads = [
        f"{attack}, guard {guard}"
        for attack in ("no attack", "`flip`", "`scaled`")
        for guard in ("off", "on")
    ]
    lines = [f"| by seed, % | {' | '.join(heads)} |", f"|---|{'--:|' * len(heads)}"]
    for name, suite in SUITES.items():
        if name == HELD_OUT:
            continue
        score = {
            (o.seed, o.attack, o.guard): o.balanced_accuracy for o in _of(records, name)
        }
        cells = [
            ", ".join(f"{100 * score[s, attack, guard]:.1f}" for s in suite.seeds)
            for attack in (HONEST, *suite.attacks)
            for guard in (False, True)
        ]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _of(records: Records, suite: str) -> list[Outcome]:
    return [
        Outcome(**record["outcome"]) for record in records if record["suite"] == suite
    ]


def _points(value: float, most: float = float("inf")) -> str:
    shown = f"{round(value, 1) + 0.0:.1f}".replace("-", "−")  # no minus before zero
    return f"**{shown}**" if value > most else shown


SHOWN = (
    Shown(
        ROOT / "docs" / "robustness.md",
        "held-out",
        lambda: held_out_table(read_records(RECORDS)),
    ),
    Shown(
        ROOT / "docs" / "privacy.md",
        "attacks",
        lambda: masked_table(read_records(RECORDS)),
    ),
)


def main() -> None:
    done = {(r["suite"], r["outcome"]["seed"]) for r in read_records(RECORDS)}
    for name, suite in SUITES.items():
        for seed in suite.seeds:
            if (name, seed) in done:
                continue
            experiment = suite.experiment(seed)
            with TemporaryDirectory() as folder, one_thread():
                outcomes = [
                    *run_suite(
                        experiment, suite.attacks, suite.aggregations, Path(folder)
                    )
                ]
            for outcome in outcomes:
                record = {"suite": name, "config_sha256": experiment.sha256}
                add_record(RECORDS, record | {"outcome": asdict(outcome)})
            mean = fmean(o.balanced_accuracy for o in outcomes)
            print(f"{name}, seed {seed}: {mean:.3f} on average", flush=True)
    for table in SHOWN:
        table.write()


if __name__ == "__main__":
    main()
