"""Methods under every card they are made for: any engine, a stop, a bad answer.

Whatever is in the table of methods and made for another card than the paper's enters by
itself; of those made for the paper's card, the ones that no other test takes through.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch
from tests.methods.small import SMALL

import fedsemi
from fedsemi.config.experiment import make_experiment
from fedsemi.engine import Engine, WrappedEngine
from fedsemi.engines import InProcess, Workers
from fedsemi.messages import Answer, Task, Update
from fedsemi.method import Method
from fedsemi.methods import METHODS
from fedsemi.server.stages import EngineMaker, Judge, run_stages
from fedsemi.simulation.build import Simulation, build
from fedsemi.storage import read_weights
from fedsemi.weights import digest

FIELD = [name for name, method in METHODS.own.items() if method.cards[0] != "LC"]
PLAIN = (
    "class-mass",
    "permuted-semi",
    "fedrod",
    "fedrod-dual",
    "fedconsist",
    "fedbarlow",
    "orchestra",
    "head-only",
    "cbafed-warmup",
)
"""Made for the card LC."""
EXACT = {"feddb": {"shares": "exact"}}
"""The exact minimizer: the hundred steps of the released code take their time."""
STATIC = "semifl-static"


@dataclass(frozen=True)
class Case:
    """A method under a card, with labels and a partition of its own if need be."""

    name: str
    card: str
    per_class: int = 3
    partition: tuple[tuple[str, Any], ...] = (("scheme", "iid"),)

    def content(self, rounds: int) -> dict[str, Any]:
        static = {"batch_norm": "static"} if self.name == STATIC else {}
        name = self.name.removesuffix("-static")
        settings = SMALL.get(name, {}) | EXACT.get(name, {}) | static
        few = {"labels_per_class": self.per_class} if self.card in ("LAC", "LS") else {}
        # Two with labels, so that one of them may be spoiled where nobody else learns.
        labeled = {"labeled_clients": 2} if self.card == "LC" else {}
        return {
            "data": {"name": "synthetic", "train_limit": 100, "test_limit": 8},
            "setting": {"card": self.card, **few},
            "partition": {"num_clients": 3, **dict(self.partition), **labeled},
            "model": {"name": "resnet8", "width": 2},
            "local": {"batch_size": 8},
            "guard": {"enabled": True},
            "stages": [{"method": name, "rounds": rounds, **settings}],
        }

    def simulation(self) -> Simulation:
        return build(make_experiment(self.content(2)))


WHOLE = Case("fl2", "LAC", 18, (("dirichlet_alpha", 0.2), ("min_size", 4)))
"""Clients of 25 + 8 and 36 + 10 images with and without labels, and one of 21 + 0."""


def cases(*marks: Any) -> Iterator[Any]:
    """List the field under its first cards, and with these marks all the others."""
    for name in FIELD:
        yield pytest.param(Case(name, METHODS[name].cards[0]), id=name)
    yield pytest.param(Case(STATIC, "LS"), id=STATIC)
    for name in FIELD:
        for card in METHODS[name].cards[1:]:
            yield pytest.param(Case(name, card), id=f"{name}-{card}", marks=marks)
    yield pytest.param(WHOLE, id="fl2-wholly-labeled", marks=marks)
    for name in PLAIN:
        yield pytest.param(Case(name, "LC"), id=name, marks=marks)


def test_a_wholly_labeled_client_is_among_partly_labeled_ones():
    sizes = [
        (client.num_labeled, client.num_unlabeled)
        for client in WHOLE.simulation().federation.clients
    ]
    assert sizes == [(25, 8), (21, 0), (36, 10)]


def local(simulation: Simulation, kind: Any) -> EngineMaker:
    @contextmanager
    def opened(method: Method[Any], _: int) -> Iterator[Engine]:
        with kind(method, simulation.federation.clients) as engine:
            yield engine

    return opened


def bits(simulation: Simulation, open_engine: EngineMaker) -> list[Any]:
    """Run it; return each round's record, without its time, and its bits."""
    return [
        (replace(step.record, seconds=0.0), digest(step.state.whole))
        for step in run_stages(simulation, open_engine, Judge())
    ]


@pytest.mark.parametrize("case", list(cases(pytest.mark.slow)))
def test_workers_and_flower_give_the_bits_of_one_process(case):
    pytest.importorskip("flwr")
    from fedsemi.deployment.coordinator.engine import FlowerEngine
    from fedsemi.deployment.coordinator.roster import Roster
    from fedsemi.deployment.one_machine.loopback import LoopbackGrid
    from fedsemi.deployment.one_machine.simulate import dealt

    simulation = case.simulation()
    expected = bits(simulation, local(simulation, InProcess))
    assert bits(simulation, local(simulation, partial(Workers, workers=2))) == expected
    clients = len(simulation.federation.clients)
    with dealt(simulation) as app:
        grid = LoopbackGrid(app, clients)
        roster = Roster(grid, simulation)
        roster.wait_for(clients, 10)

        def open_engine(method: Method[Any], stage: int) -> FlowerEngine:
            return FlowerEngine(grid, roster, method, stage)

        assert bits(simulation, open_engine) == expected


@pytest.mark.parametrize("case", list(cases(pytest.mark.slow)))
def test_a_run_that_was_stopped_goes_on_to_the_same_bits(case, tmp_path: Path):
    quiet = {"progress": False, "workers": 1}
    whole = fedsemi.run(case.content(2), out=tmp_path / "whole", **quiet)
    first = fedsemi.run(case.content(1), out=tmp_path / "first", **quiet)
    again = fedsemi.resume(first.folder, overrides=["stages.0.rounds=2"], **quiet)
    models = [read_weights(run.folder / "model.safetensors") for run in (whole, again)]
    assert digest(models[0]) == digest(models[1])


class Spoiling(WrappedEngine):
    """An engine one of whose clients always sends a model that is not finite."""

    def __init__(self, engine: Engine, bad: int) -> None:
        super().__init__(engine)
        self._bad = bad

    def run(self, tasks: Sequence[Task]) -> Sequence[Answer]:
        answers = self.engine.run(tasks)
        return [self._spoiled(a) if a.client == self._bad else a for a in answers]

    @staticmethod
    def _spoiled(answer: Answer) -> Answer:
        assert isinstance(answer, Update)
        bad = {
            k: v * torch.nan for k, v in answer.weights.items() if v.is_floating_point()
        }
        return replace(answer, weights={**answer.weights, **bad})


@pytest.mark.parametrize("case", list(cases()))
def test_an_answer_that_is_no_model_is_dropped_and_the_others_are_used(case):
    simulation = case.simulation()

    @contextmanager
    def open_engine(method: Method[Any], _: int) -> Iterator[Engine]:
        with InProcess(method, simulation.federation.clients) as engine:
            asked = (
                c for c in engine.clients() if c.num_labeled or not method.labels_only
            )
            yield Spoiling(engine, max(client.id for client in asked))

    for step in run_stages(simulation, open_engine, Judge()):
        assert {d.code for d in step.record.dropped} == {"FS2103"}
        assert not step.record.skipped
        assert all(value.isfinite().all() for value in step.state.whole.values())
        assert sum(step.state.contributions.values()) == pytest.approx(1, abs=1e-6)
