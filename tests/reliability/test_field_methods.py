"""Methods made for other cards than the paper's: any engine, a stop, a bad answer.

Whatever is in the table of methods and made for another card enters by itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch

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
EAGER: dict[str, dict[str, Any]] = {
    "feddb": {"cutoff": 0.3, "shares": "exact"},
    "sage": {"cutoff": 0.3},
    "fl2": {"cutoff": 0.3},
    "semifl": {"cutoff": 0.3},
    "fedmatch": {"cutoff": 0.3, "helper_interval": 1},
}
"""So that a fresh model is sure of something, and helpers are sent at once."""
STATIC = "semifl-static"
CASES = [*FIELD, STATIC]


def content(name: str, rounds: int) -> dict[str, Any]:
    static = {"batch_norm": "static"} if name == STATIC else {}
    name = "semifl" if name == STATIC else name
    card = METHODS[name].cards[0]
    few = {"labels_per_class": 3} if card in ("LAC", "LS") else {}
    return {
        "data": {"name": "synthetic", "train_limit": 100, "test_limit": 8},
        "setting": {"card": card, **few},
        "partition": {"num_clients": 3, "scheme": "iid"},
        "model": {"name": "resnet8", "width": 2},
        "local": {"batch_size": 8},
        "guard": {"enabled": True},
        "stages": [{"method": name, "rounds": rounds, **EAGER.get(name, {}), **static}],
    }


def simulation_of(name: str, rounds: int = 2) -> Simulation:
    return build(make_experiment(content(name, rounds)))


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


@pytest.mark.parametrize("name", CASES)
def test_workers_and_flower_give_the_bits_of_one_process(name):
    pytest.importorskip("flwr")
    from fedsemi.deployment.coordinator.engine import FlowerEngine
    from fedsemi.deployment.coordinator.roster import Roster
    from fedsemi.deployment.one_machine.loopback import LoopbackGrid
    from fedsemi.deployment.one_machine.simulate import dealt

    simulation = simulation_of(name)
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


@pytest.mark.parametrize("name", CASES)
def test_a_run_that_was_stopped_goes_on_to_the_same_bits(name, tmp_path: Path):
    quiet = {"progress": False, "workers": 1}
    whole = fedsemi.run(content(name, 2), out=tmp_path / "whole", **quiet)
    first = fedsemi.run(content(name, 1), out=tmp_path / "first", **quiet)
    again = fedsemi.resume(first.folder, overrides=["stages.0.rounds=2"], **quiet)
    models = [read_weights(run.folder / "model.safetensors") for run in (whole, again)]
    assert digest(models[0]) == digest(models[1])


class Spoiling(WrappedEngine):
    """An engine whose last client always sends a model that is not finite."""

    def run(self, tasks: Sequence[Task]) -> Sequence[Answer]:
        answers = self.engine.run(tasks)
        last = max(client.id for client in self.clients())
        return [self._spoiled(a) if a.client == last else a for a in answers]

    @staticmethod
    def _spoiled(answer: Answer) -> Answer:
        assert isinstance(answer, Update)
        bad = {
            k: v * torch.nan for k, v in answer.weights.items() if v.is_floating_point()
        }
        return replace(answer, weights={**answer.weights, **bad})


@pytest.mark.parametrize("name", CASES)
def test_an_answer_that_is_no_model_is_dropped_and_the_others_are_used(name):
    simulation = simulation_of(name)

    @contextmanager
    def open_engine(method: Method[Any], _: int) -> Iterator[Engine]:
        with InProcess(method, simulation.federation.clients) as engine:
            yield Spoiling(engine)

    for step in run_stages(simulation, open_engine, Judge()):
        assert {d.code for d in step.record.dropped} == {"FS2103"}
        assert not step.record.skipped
        assert all(value.isfinite().all() for value in step.state.whole.values())
        assert sum(step.state.contributions.values()) == pytest.approx(1, abs=1e-6)
