"""Run attackers against each aggregation, with and without the guard."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from statistics import fmean
from typing import Any

from fedsemi.config.experiment import Experiment, make_experiment
from fedsemi.errors import ConfigError, ProtocolError
from fedsemi.method import Method
from fedsemi.runs.records import RoundRecord, Step
from fedsemi.server.running_mean import delivered
from fedsemi.server.stages import Judge, run_stages
from fedsemi.simulation.adaptive import success
from fedsemi.simulation.attacked import (
    ATTACKS,
    NEED_TRUTH,
    TOGETHER,
    AttackedEngine,
)
from fedsemi.simulation.attacks import Scene
from fedsemi.simulation.build import Simulation, build
from fedsemi.simulation.run import run_simulation
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
    share: float | None
    """The attackers' share of the mean, averaged over the rounds; None under masks."""
    dropped: int
    """Replies that the gate refused."""
    clients: int = 0
    """How many there are, the attackers among them."""
    returned: int = 0
    """How often the guard returned to an older model."""
    cut: int = 0
    """Rounds in which the guard cut something of an attacker's."""
    stopped: bool = False
    """Whether the run ended early, for too few replies were usable."""
    success: float | None = None
    """Share of marked test images that the last model takes for the target."""


def run_suite(
    experiment: Experiment,
    attacks: Sequence[str],
    aggregations: Sequence[str],
    out: Path,
    data_dir: Path | None = None,
) -> Iterator[Outcome]:
    """Warm up once, then run every aggregation, attacked and not, guarded and not.

    The attackers are the unlabeled clients with the most samples. An attack of two is
    left out where they would be half of the unlabeled clients or more.
    """
    if len(experiment.stages) < 2:
        raise ConfigError("an attack needs a config with a warm-up and a second stage")
    built = build(experiment, data_dir)
    _check_truth(built, attacks)
    possible = [attack for attack in attacks if attackers_of(built, attack)]
    start = warm_up(built, make_folder(out))
    for aggregation in aggregations:
        for attack in (HONEST, *possible):
            for guard in (True, False):
                each = _variant(experiment, start, aggregation, guard)
                simulation = replace(built, experiment=each)
                steps = _until_the_end(_attacked(simulation, attack))
                yield _outcome(simulation, steps, aggregation, attack, guard)


def _until_the_end(steps: Iterator[Step]) -> list[Step]:
    """Collect the steps; a model that was destroyed ends a run for lack of replies."""
    done: list[Step] = []
    try:
        for step in steps:
            done.append(step)
    except ProtocolError as error:
        if error.code != "FS2201":
            raise
    return done


def attackers_of(simulation: Simulation, attack: str) -> list[int]:
    """Return the unlabeled clients with the most samples; none if they are too few."""
    unlabeled = [c for c in simulation.federation.clients if not c.num_labeled]
    if not unlabeled:
        raise ConfigError("every client has labels, so there is nobody to attack")
    unlabeled.sort(key=lambda client: (-client.num_unlabeled, client.id))
    number = TOGETHER.get(attack, 1)
    fit = number == 1 or 2 * number < len(unlabeled)
    return [client.id for client in unlabeled[:number]] if fit else []


def _check_truth(built: Simulation, attacks: Sequence[str]) -> None:
    impossible = [attack for attack in attacks if attack in NEED_TRUTH]
    if built.federation.oracle is None and impossible:
        others = [f"--attack {name}" for name in ATTACKS if name not in NEED_TRUTH]
        raise ConfigError(
            f"{', '.join(impossible)}: such an attacker must know the true labels of "
            f"its images, which nobody has of real sites; pass {' '.join(others)}",
            code="FS4107",
        )


def warm_up(built: Simulation, out: Path) -> Path:
    """Run the first stage alone; return the file of its last model."""
    content = built.experiment.model_dump(mode="json", exclude_none=True)
    content["stages"] = content["stages"][:1]
    (*_, last) = run_simulation(replace(built, experiment=make_experiment(content)))
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
    federation, attackers = simulation.federation, attackers_of(simulation, attack)
    setup = simulation.setup(simulation.experiment.stages[0])
    truth = federation.oracle.truth if federation.oracle else {}
    scenes = {
        c.id: Scene(c, truth.get(c.id), setup, simulation.model.num_classes)
        for c in federation.clients
        if c.id in attackers
    }

    def open_engine(method: Method[Any], stage: int) -> AttackedEngine:
        return AttackedEngine(method, federation.clients, attack, scenes)

    return run_stages(
        simulation, open_engine, Judge(federation.test, federation.held_out)
    )


def _outcome(
    simulation: Simulation,
    steps: Sequence[Step],
    aggregation: str,
    attack: str,
    guard: bool,
) -> Outcome:
    attackers, test = attackers_of(simulation, attack), simulation.federation.test
    records = [step.record for step in steps]
    tests = [record.test for record in records if record.test is not None]
    missing = simulation.experiment.stages[-1].rounds - len(steps)
    tests += tests[-1:] * missing  # a run that stood still keeps its model
    notices = [{(n.client, n.code) for n in record.notices} for record in records]
    setup = simulation.setup(simulation.experiment.stages[0])
    marking = attack in (HONEST, "trigger")
    model = delivered(simulation.experiment, steps[-1])
    return Outcome(
        seed=simulation.experiment.seed,
        aggregation=aggregation,
        attack=attack,
        guard=guard,
        balanced_accuracy=fmean(test.balanced_accuracy for test in tests[-LAST:]),
        share=_share(records, attackers),
        dropped=sum(len(record.dropped) for record in records),
        clients=len(simulation.federation.clients),
        returned=sum((None, "FS2141") in seen for seen in notices),
        cut=sum(_cuts_any(record, attackers) for record in records),
        stopped=missing > 0,
        success=success(model, setup, test.images, test.labels) if marking else None,
    )


def _cuts_any(record: RoundRecord, attackers: Sequence[int]) -> bool:
    """Tell whether something was cut of an attacker's, or noted, or of its group's."""
    named = {notice.client for notice in record.notices}
    cut = {id for group in record.groups if group.part < 1 for id in group.summed}
    return bool((named | cut) & set(attackers))


def _share(records: Sequence[RoundRecord], attackers: Sequence[int]) -> float | None:
    if any(record.hidden for record in records):
        return None
    return fmean(
        sum(record.clients[id].contribution for id in attackers if id in record.clients)
        for record in records
    )


def table_rows(outcomes: Sequence[Outcome]) -> list[dict[str, Any]]:
    """Average over seeds: one row for each aggregation and attack.

    What is lost is measured against the same aggregation without attack or guard.
    """
    pairs = dict.fromkeys((o.aggregation, o.attack) for o in outcomes)
    return [_row(outcomes, *pair) for pair in pairs]


def _row(outcomes: Sequence[Outcome], aggregation: str, attack: str) -> dict[str, Any]:
    mean = partial(_mean, outcomes, aggregation)
    known = partial(_known_mean, outcomes, aggregation)
    clean = mean("balanced_accuracy", HONEST, False)
    row: dict[str, Any] = {"aggregation": aggregation, "attack": attack}
    for name, guard in (("off", False), ("on", True)):
        row[f"lost_{name}"] = clean - mean("balanced_accuracy", attack, guard)
        for what in ("share", "success"):
            row[f"{what}_{name}"] = known(what, attack, guard)
    return row | {
        "clean": clean,
        "dropped_on": mean("dropped", attack, True),
        "returned_on": mean("returned", attack, True),
    }


def _known_mean(
    outcomes: Sequence[Outcome], aggregation: str, name: str, attack: str, guard: bool
) -> float | None:
    """Average what not every run says; None if no run does."""
    known = [o for o in outcomes if getattr(o, name) is not None]
    wanted = aggregation, attack, guard
    if not any((o.aggregation, o.attack, o.guard) == wanted for o in known):
        return None
    return _mean(known, aggregation, name, attack, guard)


def _mean(
    outcomes: Sequence[Outcome], aggregation: str, name: str, attack: str, guard: bool
) -> float:
    wanted = aggregation, attack, guard
    return fmean(
        getattr(o, name)
        for o in outcomes
        if (o.aggregation, o.attack, o.guard) == wanted
    )
