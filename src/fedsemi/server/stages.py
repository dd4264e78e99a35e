"""Conduct an experiment: stage after stage, round after round, each with its record."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import Any

from fedsemi.client.evaluate import TEST_BATCH, Metrics, metrics, predict
from fedsemi.client.findings import Reporting, Validation, Validator, reported
from fedsemi.client.local import Setup
from fedsemi.config.blueprint import Blueprint
from fedsemi.data.dataset import ImageSet
from fedsemi.engines import InProcess, Workers, local_engine
from fedsemi.messages import DIVERSITY, PSEUDO_LABEL, Memory, Update, Weights
from fedsemi.method import Method, ServerState
from fedsemi.objectives.calibration import Estimate, estimate, from_metrics
from fedsemi.runs.checkpoint import Checkpoint
from fedsemi.seeds import seed_of
from fedsemi.server.notices import Notice, Rejection
from fedsemi.server.protected import Protected, protected
from fedsemi.server.rounds import Engine, Round, run
from fedsemi.server.running_mean import WithRunningMean
from fedsemi.simulation.build import Simulation
from fedsemi.simulation.oracle import Oracle
from fedsemi.weights import num_bytes


@dataclass(frozen=True)
class ClientRecord:
    """What one client did in one round."""

    num_labeled: int
    num_unlabeled: int
    num_pseudo: int
    contribution: float
    diversity: list[float] | None
    pseudo_label_accuracy: float | None
    """By the oracle of a simulation."""
    pseudo_label_estimate: Estimate | None
    """Without ground truth, from what labeled clients held out."""
    bytes_sent: int
    """Size of the tensors in the client's answers."""
    metrics: Mapping[str, float]


@dataclass(frozen=True)
class RoundRecord:
    """One line of metrics.jsonl; rounds count from one."""

    stage: int
    method: str
    round: int
    rounds: int
    seconds: float
    test: Metrics | None
    validation: Validation | None
    clients: Mapping[int, ClientRecord]
    asked: int = 0
    """Replies that the method planned for."""
    used: int = 0
    """Replies that passed the gate."""
    dropped: tuple[Rejection, ...] = ()
    """Replies that the gate refused."""
    notices: tuple[Notice, ...] = ()
    """What else the gate saw."""
    skipped: bool = False
    """Whether too few replies were left and the model stayed as it was."""
    intervention: str | None = None
    """What was done because the mean would have hurt, see [alarms]."""
    running_mean: Metrics | None = None
    """The test of a running mean of the global model, if one is kept."""
    also_tested: Mapping[str, float] = field(default_factory=dict)
    """Accuracy of further models of the round, such as IsoFed's labeled mean."""

    def as_json(self) -> dict[str, Any]:
        """Lay the record out flat, with the clients by id."""
        content = asdict(self)
        test = content.pop("test") or {}
        clients = {str(id): record for id, record in content.pop("clients").items()}
        for scores in (test, content["running_mean"] or {}):
            scores.pop("confusion", None)
        return content | test | {"clients": clients}


@dataclass(frozen=True)
class Step:
    """What a caller sees after each round; `memory` answers until the next one."""

    record: RoundRecord
    state: ServerState
    memory: Callable[[int], Memory]

    @property
    def weights(self) -> Weights:
        """The global model."""
        return self.state.weights


EngineMaker = Callable[[Method[Any], int], AbstractContextManager[Engine]]
"""Opens an engine for the method of a stage, given the stage's number as well."""


@dataclass(frozen=True, eq=False)
class Judge:
    """What rounds are measured with, as far as the server has it."""

    test: ImageSet | None = None
    held_out: Mapping[int, ImageSet] = field(default_factory=dict)
    """Of the labeled clients; known to the server in simulations only."""
    oracle: Oracle | None = None
    threads: int = 1
    """Cores for the test; workers leave theirs idle meanwhile."""


def conduct(
    simulation: Simulation, workers: int = 1, start: Checkpoint | None = None
) -> Iterator[Step]:
    """Run all stages on this machine, or those rounds that a checkpoint lacks."""
    federation = simulation.federation

    def open_engine(method: Method[Any], stage: int) -> InProcess | Workers:
        return local_engine(method, federation.clients, workers)

    judge = Judge(federation.test, federation.held_out, federation.oracle, workers)
    return run_stages(simulation, open_engine, judge, start)


def run_stages(
    blueprint: Blueprint,
    open_engine: EngineMaker,
    judge: Judge,
    start: Checkpoint | None = None,
) -> Iterator[Step]:
    """Run all stages; the weights of one begin the next, client memory starts anew.

    With a checkpoint to start from, only the rounds that it lacks are run.
    """
    first = 0 if start is None else start.cursor.stage
    weights = blueprint.initial_weights() if start is None else start.weights
    for number in range(first, len(blueprint.experiment.stages)):
        here = start if number == first else None
        for step in _run_stage(blueprint, number, weights, open_engine, judge, here):
            weights = step.weights
            yield step


def _run_stage(
    blueprint: Blueprint,
    number: int,
    weights: Weights,
    open_engine: EngineMaker,
    judge: Judge,
    start: Checkpoint | None,
) -> Iterator[Step]:
    stage = blueprint.experiment.stages[number]
    if start is not None and start.cursor.round >= stage.rounds:
        return
    method, setup = blueprint.method(stage), blueprint.setup(stage)
    seed = seed_of(blueprint.experiment.seed, "stage", number)
    every = blueprint.experiment.evaluation.every
    validator = Validator.of(judge.held_out, setup)
    validate = partial(_validation, validator, seed)
    server = protected(method, validator, blueprint.experiment.alarms)
    keep = blueprint.experiment.evaluation.running_mean
    averaged = server if keep is None else WithRunningMean(server, keep)
    guarded = blueprint.experiment.guard.enabled
    with open_engine(method, number) as opened:
        # The guard judges models by what labeled sites report, in simulations too.
        engine = Reporting(opened, judge.held_out, setup) if guarded else opened
        state = _begin(method.init(weights, engine.clients(), seed), engine, start)
        validation = validate(state)
        started = time.perf_counter()
        for done in run(averaged, engine, state, stage.rounds, blueprint.gate(method)):
            due = done.state.round % every == 0 or done.state.round == stage.rounds
            tester = judge if due else Judge()
            teacher, validation = validation, validate(done.state)
            # Real sites report on the model that they received.
            found = reported(done.updates, setup.model.num_classes)
            record = RoundRecord(
                stage=number,
                method=stage.method,
                round=done.state.round,
                rounds=stage.rounds,
                seconds=time.perf_counter() - started,
                test=_test(tester, setup, done.state.weights),
                validation=validation or found,
                clients=_client_records(done, engine, judge.oracle, teacher or found),
                asked=done.asked,
                used=len(done.updates),
                dropped=done.dropped,
                notices=done.notices,
                skipped=done.skipped,
                intervention=server.taken() if isinstance(server, Protected) else None,
                running_mean=_test(tester, setup, done.state.running_mean),
                also_tested=_test_others(tester, setup, done.state),
            )
            yield Step(record, done.state, engine.memory)
            started = time.perf_counter()


def _begin(fresh: ServerState, engine: Engine, start: Checkpoint | None) -> ServerState:
    """Return the state to start from; a checkpoint's clients remember as well."""
    if start is None:
        return fresh
    engine.restore(start.memories)
    return start.state(like=fresh)


def _test(judge: Judge, setup: Setup, weights: Weights) -> Metrics | None:
    """Test a model, if there is one and something to test it on."""
    if judge.test is None or not weights:
        return None
    model, views, device = setup.load(weights), setup.views, setup.device
    probs = predict(model, judge.test.images, views, TEST_BATCH, device, judge.threads)
    return metrics(probs, judge.test.labels, setup.model.num_classes)


def _test_others(judge: Judge, setup: Setup, state: ServerState) -> dict[str, float]:
    tested = {k: _test(judge, setup, v) for k, v in state.also_tested.items()}
    return {name: found.accuracy for name, found in tested.items() if found}


def _validation(
    validator: Validator | None, seed: int, state: ServerState
) -> Validation | None:
    if validator is None:
        return None
    return validator.validate(state.weights, seed_of(seed, "validation", state.round))


def _client_records(
    done: Round[Any],
    engine: Engine,
    oracle: Oracle | None,
    teacher: Validation | None,
) -> dict[int, ClientRecord]:
    sent: dict[int, int] = {}
    for update in done.updates:
        size = num_bytes(update.weights) + num_bytes(update.statistics)
        sent[update.client] = sent.get(update.client, 0) + size
    return {
        update.client: _client_record(
            update,
            done.state.contributions.get(update.client, 0.0),
            _pseudo_label_accuracy(update.client, engine.memory, oracle),
            teacher,
            sent[update.client],
        )
        for update in done.updates
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
        metrics=dict(update.metrics),
    )


def _pseudo_label_accuracy(
    client: int, memory: Callable[[int], Memory], oracle: Oracle | None
) -> float | None:
    if oracle is None:
        return None
    kept = memory(client)
    for name in kept:
        if name.endswith(PSEUDO_LABEL):
            return oracle.accuracy(client, kept[name])
    return None
