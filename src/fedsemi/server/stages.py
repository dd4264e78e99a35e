"""Run an experiment: stage after stage, round after round, each with its record."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Protocol

from torch import Tensor

from fedsemi.client.findings import Validation, Validator, named, reported
from fedsemi.config.blueprint import Blueprint
from fedsemi.data.dataset import ImageSet
from fedsemi.engine import Engine
from fedsemi.engines.reporting import Reporting
from fedsemi.messages import DIVERSITY, Memory, Update, Weights
from fedsemi.method import Method
from fedsemi.objectives.calibration import estimate, from_metrics
from fedsemi.objectives.labeler import pseudo_labels_in
from fedsemi.runs.checkpoint import Checkpoint
from fedsemi.runs.records import ClientRecord, RoundRecord, Step
from fedsemi.seeds import seed_of
from fedsemi.server.budget import Course
from fedsemi.server.gates import gate_of
from fedsemi.server.members import Scheduled, present
from fedsemi.server.noised import Noised
from fedsemi.server.protected import Protected, protected
from fedsemi.server.rounds import Round, run
from fedsemi.server.running_mean import WithRunningMean
from fedsemi.server.testing import tests_of
from fedsemi.state import ServerState

EngineMaker = Callable[[Method[Any], int], AbstractContextManager[Engine]]
"""Opens an engine for the method of a stage, given the stage's number as well."""


class Truth(Protocol):
    """Knows how good pseudo-labels are; there is one in simulations only."""

    def accuracy(self, client: int, pseudo_label: Tensor) -> float | None:
        """Return the share of right ones among a client's confident pseudo-labels."""
        ...


@dataclass(frozen=True, eq=False)
class Judge:
    """What rounds are measured with, as far as the server has it."""

    test: ImageSet | None = None
    held_out: Mapping[int, ImageSet] = field(default_factory=dict)
    """Of the labeled clients; known to the server in simulations only."""
    oracle: Truth | None = None
    threads: int = 1
    """Cores for the test; workers leave theirs idle meanwhile."""


def run_stages(
    blueprint: Blueprint,
    open_engine: EngineMaker,
    judge: Judge,
    start: Checkpoint | None = None,
    noise_key: bytes | None = None,
) -> Iterator[Step]:
    """Run all stages; the weights of one begin the next, client memory starts anew.

    With a checkpoint to start from, only the rounds that it lacks are run. A run whose
    privacy budget is spent ends before its stages do.

    Args:
        blueprint: What to run.
        open_engine: Who carries tasks out.
        judge: What rounds are measured with.
        start: Where to continue.
        noise_key: A secret, where others must not know the noise; else from the seed.
    """
    first = 0 if start is None else start.cursor.stage
    weights = blueprint.initial_weights() if start is None else start.weights
    spent, noised = (0.0, 0) if start is None else (start.spent, start.noised)
    key = noise_key or str(seed_of(blueprint.experiment.seed, "noise")).encode()
    course = Course.of(blueprint)
    if start is None:
        course.check_first()
    else:
        course.check_continued(start.cursor.number, noised)
    for number in range(first, len(blueprint.experiment.stages)):
        here = start if number == first else None
        done = here.cursor.round if here else 0
        if course.stops(number, done, spent):
            return
        begun = Begun(number, weights, spent, noised, key, here)
        for step in _run_stage(blueprint, begun, open_engine, judge, course):
            weights, spent, noised = step.weights, step.state.spent, step.state.noised
            yield step


@dataclass(frozen=True, eq=False)
class Begun:
    """Where a stage begins."""

    number: int
    weights: Weights
    spent: float
    """What earlier stages cost."""
    noised: int
    """How many of their rounds have noise on the model."""
    noise_key: bytes
    start: Checkpoint | None
    """Where it continues, if in its middle."""


def _run_stage(
    blueprint: Blueprint,
    begun: Begun,
    open_engine: EngineMaker,
    judge: Judge,
    course: Course,
) -> Iterator[Step]:
    number, start = begun.number, begun.start
    stage = blueprint.experiment.stages[number]
    if start is not None and start.cursor.round >= stage.rounds:
        return
    method, setup = blueprint.method(stage), blueprint.setup(stage)
    seed = seed_of(blueprint.experiment.seed, "stage", number)
    every = blueprint.experiment.evaluation.every
    validator = Validator.of(judge.held_out, setup)
    validate = partial(_validation, validator, seed)
    server = _server_side(blueprint, method, validator, begun)
    keep = blueprint.experiment.evaluation.running_mean
    delivers = blueprint.experiment.evaluation.delivers
    test = partial(tests_of, delivers=delivers, threads=judge.threads)
    averaged = server if keep is None else WithRunningMean(server, keep)
    gate, guarded = gate_of(blueprint, method), blueprint.experiment.guard.enabled
    with open_engine(method, number) as opened:
        engine = _scheduled(blueprint, opened, number)
        if guarded:  # judges models by what labeled sites report, in simulations too
            engine = Reporting(engine, judge.held_out, setup)
        done_before = start.cursor.round if start else 0
        fresh = method.init(begun.weights, present(engine, done_before), seed)
        state = _begin(fresh, engine, begun)
        validation = validate(state)
        started = time.perf_counter()
        last = course.last_round(number, state.round, state.spent)
        for done in run(averaged, engine, state, last, gate, *course.price(number)):
            due = done.state.round % every == 0 or done.state.round == last
            teacher, validation = validation, validate(done.state)
            # Real sites report on the model that they received.
            found = reported(done.updates, setup.model.num_classes)
            record = RoundRecord(
                stage=number,
                method=stage.method,
                rounds=stage.rounds,
                seconds=time.perf_counter() - started,
                validation=validation or found,
                clients=_client_records(done, engine, judge.oracle, teacher or found),
                intervention=server.taken() if isinstance(server, Protected) else None,
                guard=guarded,
                privacy=course.record(number, done.state.round, done.state.spent),
                hidden=not method.sends_model,
                **_outcome(done),
                **test(done.state, setup, judge.test if due else None),
            )
            yield Step(record, done.state, engine.memory)
            started = time.perf_counter()


def _scheduled(blueprint: Blueprint, engine: Engine, stage: int) -> Engine:
    """Let clients come and go as the experiment says, if it says so."""
    experiment = blueprint.experiment
    if not experiment.membership:
        return engine
    before = sum(earlier.rounds for earlier in experiment.stages[:stage])
    return Scheduled(engine, experiment.membership, before)


def _outcome(done: Round[Any]) -> dict[str, Any]:
    """Say of a record what a round says of itself."""
    learners = {update.client for update in done.learned}
    return {
        "round": done.state.round,
        "asked": done.asked,
        "used": len(done.updates),
        "dropped": done.dropped,
        "notices": done.notices,
        "skipped": done.skipped,
        "groups": done.groups,
        "measured_bytes": sum(n for id, n in done.sent.items() if id not in learners),
    }


def _server_side(
    blueprint: Blueprint,
    method: Method[Any],
    validator: Validator | None,
    begun: Begun,
) -> Method[Any]:
    """Return what combines the answers: the method, watched or with noise.

    Under masks the sites have added the noise.
    """
    privacy = blueprint.experiment.privacy
    if privacy.noise_multiplier and method.sends_model:
        return Noised(method, privacy, begun.noise_key, begun.number)
    return protected(method, validator, blueprint.experiment.alarms)


def _begin(fresh: ServerState, engine: Engine, begun: Begun) -> ServerState:
    """Return the state to start from; a checkpoint's clients remember as well."""
    if begun.start is None:
        return replace(fresh, spent=begun.spent, noised=begun.noised)
    engine.restore(begun.start.memories)
    return begun.start.state(like=fresh)


def _validation(
    validator: Validator | None, seed: int, state: ServerState
) -> Validation | None:
    if validator is None:
        return None
    return validator.validate(state.weights, seed_of(seed, "validation", state.round))


def _client_records(
    done: Round[Any],
    engine: Engine,
    oracle: Truth | None,
    teacher: Validation | None,
) -> dict[int, ClientRecord]:
    sent = done.sent
    return {
        update.client: _client_record(
            update,
            done.state.contributions.get(update.client, 0.0),
            _pseudo_label_accuracy(update.client, engine.memory, oracle),
            teacher,
            sent[update.client],
        )
        for update in done.learned
    }


def _client_record(
    update: Update,
    contribution: float,
    accuracy: float | None,
    teacher: Validation | None,
    bytes_sent: int,
) -> ClientRecord:
    counts = from_metrics(update.metrics)
    diversity = update.statistics.get(DIVERSITY)
    return ClientRecord(
        num_labeled=update.num_labeled,
        num_unlabeled=update.num_unlabeled,
        num_pseudo=update.num_pseudo,
        contribution=contribution,
        diversity=None if diversity is None else diversity.tolist(),
        pseudo_label_accuracy=accuracy,
        pseudo_label_estimate=estimate(teacher.calibration, counts)
        if teacher
        else None,
        bytes_sent=bytes_sent,
        metrics={**update.metrics, **named(update.findings)},
    )


def _pseudo_label_accuracy(
    client: int, memory: Callable[[int], Memory], oracle: Truth | None
) -> float | None:
    if oracle is None:
        return None
    found = pseudo_labels_in(memory(client))
    return None if found is None else oracle.accuracy(client, found)
