"""Does semi-supervision help on top of a good encoder? Records for docs/pretrained.md.

`python -m benchmarks.pretrained RECORDS --data-dir DATA --seeds 1,2,3` runs the arms of
`configs/pretrained/isic18-96.toml`, or of another with `--config`, that RECORDS lacks
and adds a line for each; the page is written from `benchmarks/pretrained.jsonl`. Not a
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
from fedsemi.client.evaluate import Score
from fedsemi.config.experiment import load_config
from fedsemi.simulation.build import build
from fedsemi.simulation.run import run_simulation

RECORDS = ROOT / "benchmarks" / "pretrained.jsonl"
PAGE = ROOT / "docs" / "pretrained.md"
CONFIGS = Path(str(files("fedsemi"))) / "configs" / "pretrained"
LEARNER = 'learner={selection="fixmatch",cutoff=0.95}'
BALANCED = 'learner={selection="fixmatch",cutoff=0.8,loss="balanced-softmax"}'
"""Chosen with uniform weights on the partitions of seeds 101 to 103."""
WARM_UP = '{method="supervised",rounds=20}'
ARMS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "labels": (
        "the labeled site alone",
        ('stages=[{method="supervised",rounds=40}]',),
    ),
    "uniform-semi": (
        "all sites, unlabeled ones alike",
        (f'stages=[{WARM_UP},{{method="uniform-semi",rounds=20,{LEARNER}}}]',),
    ),
    "semianagg": ("all sites, by SemiAnAgg", ()),
    "uniform-balanced": (
        "all sites alike, pseudo-labels with balanced softmax",
        (f'stages=[{WARM_UP},{{method="uniform-semi",rounds=20,{BALANCED}}}]',),
    ),
    "semianagg-balanced": (
        "by SemiAnAgg, pseudo-labels with balanced softmax",
        (f'stages=[{WARM_UP},{{method="semianagg",rounds=20,{BALANCED}}}]',),
    ),
    "all-labels": (
        "all sites, if all had labels",
        (
            'partition.labeled_clients="all"',
            'stages=[{method="supervised",rounds=40}]',
        ),
    ),
}
SCORES: tuple[Score, ...] = ("accuracy", "balanced_accuracy", "auc")


def overrides_of(arm: str, seed: int, more: Sequence[str]) -> list[str]:
    """Say in what an arm differs from the config that is shipped."""
    return [f"seed={seed}", "evaluation.every=5", *ARMS[arm][1], *more]


def config_of(name: str) -> Path:
    return CONFIGS / f"{name}.toml"


def run_arm(
    config: str, arm: str, seed: int, more: Sequence[str], data_dir: Path | None
) -> dict[str, Any]:
    experiment = load_config(config_of(config), overrides_of(arm, seed, more))
    simulation = build(experiment, data_dir)
    records = [step.record for step in run_simulation(simulation)]
    test = records[-1].test
    assert test is not None
    pseudo = [c for c in records[-1].clients.values() if c.num_pseudo]
    right = sum(c.num_pseudo * (c.pseudo_label_accuracy or 0) for c in pseudo)
    given = sum(c.num_pseudo for c in pseudo)
    return {
        "config": config,
        "arm": arm,
        "seed": seed,
        "set": list(more),
        "config_sha256": experiment.sha256,
        "encoder_sha256": simulation.model.encoder_sha256,
        "num_labeled": sum(c.num_labeled for c in simulation.federation.clients),
        **{name: test.scores[name] for name in SCORES},
        "pseudo_labels": given,
        "pseudo_label_accuracy": right / given if given else None,
        "seconds_per_round": statistics.median(r.seconds for r in records),
    }


def tables(records: Sequence[Mapping[str, Any]]) -> str:
    """Lay the records out, a table for each config and its settings."""
    groups: dict[tuple[str, ...], list[Mapping[str, Any]]] = {}
    for record in records:
        groups.setdefault((record["config"], *record["set"]), []).append(record)
    return "\n\n".join(_table(key, group) for key, group in groups.items())


def _table(key: Sequence[str], records: Sequence[Mapping[str, Any]]) -> str:
    config, *more = key
    shown = ", ".join(f"`{each}`" for each in more)
    lines = [
        f"`pretrained/{config}` with {shown}:",
        "",
        "| who learns | accuracy | balanced accuracy | AUC | accuracy less labels "
        "alone, by seed | balanced accuracy less labels alone, by seed | "
        "pseudo-labels right |",
        "|---|---|---|---|---|---|---|",
    ]
    for arm, (title, _) in ARMS.items():
        own = [r for r in records if r["arm"] == arm]
        if not own:
            continue
        alone = {r["seed"]: r for r in records if r["arm"] == "labels"}
        right = [r["pseudo_label_accuracy"] for r in own if r["pseudo_labels"]]
        cells = [title, *(_mean(own, score) for score in SCORES)]
        for score in SCORES[:2]:
            gains = [100 * (r[score] - alone[r["seed"]][score]) for r in own]
            gained = ", ".join(f"{gain:+.1f}" for gain in gains)
            cells.append(gained if arm != "labels" else "")
        cells.append(f"{100 * statistics.mean(right):.0f} %" if right else "")
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def _mean(records: Sequence[Mapping[str, Any]], score: str) -> str:
    values = [100 * record[score] for record in records]
    mean = f"{statistics.mean(values):.1f}"
    return f"{mean} ± {statistics.stdev(values):.1f}" if len(values) > 1 else mean


SHOWN = Shown(PAGE, "pretrained", lambda: tables(read_records(RECORDS)))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("records", type=Path)
    parser.add_argument("--config", default="isic18-96")
    parser.add_argument("--data-dir", type=Path)
    parser.add_argument("--seeds", default="1,2,3")
    parser.add_argument("--arms", default=",".join(ARMS))
    parser.add_argument("--set", action="append", default=[])
    given = parser.parse_args()
    known = read_records(given.records)
    done = {(r["config"], r["arm"], r["seed"], *r["set"]) for r in known}
    for seed in map(int, given.seeds.split(",")):
        for arm in given.arms.split(","):
            if (given.config, arm, seed, *given.set) in done:
                continue
            record = run_arm(given.config, arm, seed, given.set, given.data_dir)
            add_record(given.records, record)
            print(record, flush=True)
    if given.records.resolve() == RECORDS:
        SHOWN.write()


if __name__ == "__main__":
    main()
