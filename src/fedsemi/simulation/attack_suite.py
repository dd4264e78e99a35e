"""Run one attacker against each aggregation, with and without the guard."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from statistics import fmean
from typing import Any

from fedsemi.build import Simulation, build
from fedsemi.config import Experiment, make_experiment
from fedsemi.errors import ConfigError
from fedsemi.experiment import Judge, Step, conduct, run_stages
from fedsemi.method import Method
from fedsemi.simulation.attacks import ATTACKS, NEED_TRUTH, AttackedEngine, Scene
from fedsemi.storage import make_folder, write_weights

HONEST = "none"
LAST = 5
"""Tests that a score is the mean of; from one round to the next it goes up and down."""
AGGREGATIONS: dict[str, dict[str, Any]] = {
    "semianagg": {"method": "semianagg"},
    "semianagg-released": {"method": "semianagg", "rule": "released"},
    "fedavg": {"method": "fedavg"},
    "fedavg-semi": {"method": "fedavg-semi"},
    "uniform-semi": {"method": "uniform-semi"},
    "rscfed": {"method": "rscfed"},
    "cbafed": {"method": "cbafed"},
    "isofed": {"method": "isofed"},
}


@dataclass(frozen=True)
class Outcome:
    """How one run under attack ended."""

    seed: int
    aggregation: str
    attack: str
    guard: bool
    balanced_accuracy: float
    """Mean of the last tests."""
    share: float
    """The attacker's share of the mean, averaged over the rounds."""
    dropped: int
    """Replies that the gate refused."""


def run_suite(
    experiment: Experiment,
    attacks: Sequence[str],
    aggregations: Sequence[str],
    out: Path,
    data_dir: Path | None = None,
) -> Iterator[Outcome]:
    """Warm up once, then run every aggregation, attacked and not, guarded and not.

    The attacker is the unlabeled client with the most samples.
    """
    if len(experiment.stages) < 2:
        raise ConfigError("an attack needs a config with a warm-up and a second stage")
    built = build(experiment, data_dir)
    _check_truth(built, attacks)
    start = _warm_up(built, make_folder(out))
    for aggregation in aggregations:
        for attack in (HONEST, *attacks):
            for guard in (True, False):
                each = _variant(experiment, start, aggregation, guard)
                simulation = replace(built, experiment=each)
                steps = list(_attacked(simulation, attack))
                yield _outcome(simulation, steps, aggregation, attack, guard)


def attacker_of(simulation: Simulation) -> int:
    """Return the unlabeled client with the most samples."""
    unlabeled = [c for c in simulation.federation.clients if not c.num_labeled]
    if not unlabeled:
        raise ConfigError("every client has labels, so there is nobody to attack")
    return max(unlabeled, key=lambda client: (client.num_unlabeled, -client.id)).id


def _check_truth(built: Simulation, attacks: Sequence[str]) -> None:
    impossible = [attack for attack in attacks if attack in NEED_TRUTH]
    if built.federation.oracle is None and impossible:
        others = [f"--attack {name}" for name in ATTACKS if name not in NEED_TRUTH]
        raise ConfigError(
            f"{', '.join(impossible)}: such an attacker must know the true labels of "
            f"its images, which nobody has of real sites; pass {' '.join(others)}",
            code="FS4107",
        )


def _warm_up(built: Simulation, out: Path) -> Path:
    content = built.experiment.model_dump(mode="json", exclude_none=True)
    content["stages"] = content["stages"][:1]
    (*_, last) = conduct(replace(built, experiment=make_experiment(content)))
    path = out / f"warm-up-{built.experiment.seed}.safetensors"
    write_weights(path, last.weights)
    return path


def _variant(
    experiment: Experiment, start: Path, aggregation: str, guard: bool
) -> Experiment:
    content = experiment.model_dump(mode="json", exclude_none=True)
    rounds = experiment.stages[-1].rounds
    content["stages"] = [{**AGGREGATIONS[aggregation], "rounds": rounds}]
    content["guard"]["enabled"] = guard
    content["start"] = str(start)
    return make_experiment(content)


def _attacked(simulation: Simulation, attack: str) -> Iterator[Step]:
    federation, attacker = simulation.federation, attacker_of(simulation)
    setup = simulation.setup(simulation.experiment.stages[0])
    (client,) = [c for c in federation.clients if c.id == attacker]
    truth = federation.oracle.truth[attacker] if federation.oracle else None
    scene = Scene(client, truth, setup, simulation.model.num_classes)

    def open_engine(method: Method[Any], stage: int) -> AttackedEngine:
        return AttackedEngine(method, federation.clients, attacker, attack, scene)

    return run_stages(simulation, open_engine, Judge(federation.test))


def _outcome(
    simulation: Simulation,
    steps: Sequence[Step],
    aggregation: str,
    attack: str,
    guard: bool,
) -> Outcome:
    attacker = attacker_of(simulation)
    tests = [step.record.test for step in steps if step.record.test is not None]
    shares = [
        step.record.clients[attacker].contribution
        if attacker in step.record.clients
        else 0.0
        for step in steps
    ]
    return Outcome(
        seed=simulation.experiment.seed,
        aggregation=aggregation,
        attack=attack,
        guard=guard,
        balanced_accuracy=fmean(test.balanced_accuracy for test in tests[-LAST:]),
        share=fmean(shares),
        dropped=sum(len(step.record.dropped) for step in steps),
    )


def table_rows(outcomes: Sequence[Outcome]) -> list[dict[str, Any]]:
    """Average over seeds: one row for each aggregation and attack.

    What is lost is measured against the same aggregation without attack or guard.
    """
    pairs = dict.fromkeys((o.aggregation, o.attack) for o in outcomes)
    return [_row(outcomes, *pair) for pair in pairs]


def _row(outcomes: Sequence[Outcome], aggregation: str, attack: str) -> dict[str, Any]:
    mean = partial(_mean, outcomes, aggregation)
    clean = mean("balanced_accuracy", HONEST, False)
    row: dict[str, Any] = {"aggregation": aggregation, "attack": attack}
    for name, guard in (("off", False), ("on", True)):
        row[f"lost_{name}"] = clean - mean("balanced_accuracy", attack, guard)
        row[f"share_{name}"] = mean("share", attack, guard)
    return row | {"clean": clean, "dropped_on": mean("dropped", attack, True)}


def _mean(
    outcomes: Sequence[Outcome], aggregation: str, name: str, attack: str, guard: bool
) -> float:
    wanted = aggregation, attack, guard
    return fmean(
        asdict(o)[name]
        for o in outcomes
        if (o.aggregation, o.attack, o.guard) == wanted
    )
