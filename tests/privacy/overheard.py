"""A masked round of SemiAnAgg, all that reaches its server, and the truth about it.

Secrets are drawn from a fixed seed, so that a statistic of what was seen is the same
each time.
"""

from __future__ import annotations

import dataclasses
import random
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
import torch
from flwr.app import Array, Message

from fedsemi.config.experiment import make_experiment
from fedsemi.deployment.codec import decode_update
from fedsemi.deployment.coordinator.engine import Patience
from fedsemi.deployment.coordinator.on_grid import run_on_grid
from fedsemi.deployment.coordinator.roster import Roster
from fedsemi.deployment.one_machine.loopback import LoopbackGrid
from fedsemi.deployment.one_machine.simulate import dealt
from fedsemi.engine import WrappedEngine
from fedsemi.engines import InProcess
from fedsemi.messages import Answer, Task, Update, Weights
from fedsemi.privacy import fresh, shamir
from fedsemi.privacy.at_site import flat
from fedsemi.privacy.fixed_point import to_fixed
from fedsemi.privacy.letters import Claimed, Letter
from fedsemi.privacy.masked import Masked
from fedsemi.privacy.parameters import PRIME
from fedsemi.privacy.steps import read, to_integers
from fedsemi.seeds import seed_of
from fedsemi.server.gate import Gate
from fedsemi.server.rounds import run
from fedsemi.server.stages import Judge
from fedsemi.simulation.build import Simulation, build

from .played import masks_of

SITES = 5
CONTENT: dict[str, Any] = {
    "data": {"name": "synthetic", "train_limit": 200},
    "partition": {"num_clients": SITES, "scheme": "iid"},
    "model": {"name": "resnet8", "width": 4},
    "privacy": {"masked": True},
    # An untrained model is sure of nothing, and sites would have nothing to hide.
    "stages": [{"method": "semianagg", "rounds": 1, "learner": {"cutoff": 0.0}}],
}


@dataclass
class Overheard:
    """What a server was sent in a round, and what it kept of that."""

    answers: list[Update] = field(default_factory=list)
    texts: list[bytes] = field(default_factory=list)
    """The same answers, as bytes; over the codec whole messages, the greeting too."""
    kept: list[bytes] = field(default_factory=list)
    """The server's state after each step, field by field."""
    sums: list[bytes] = field(default_factory=list)
    """Those of the claims; of a class that one site has it is what that site claims."""
    model: Weights = field(default_factory=dict)
    """What came out of the round."""

    def of(self, step: str) -> dict[int, torch.Tensor]:
        """Return the answers to a step, by site."""
        found = [u for u in self.answers if step in u.statistics]
        return {update.client: update.statistics[step] for update in found}


@dataclass(frozen=True)
class Truth:
    """What a site computed and nobody else may know."""

    step: Any
    share: float
    model: Weights
    diversity: torch.Tensor
    claims: torch.Tensor

    def parts(self) -> Iterator[bytes]:
        """Write it down in all the ways in which it could lie about in a process."""
        for whole in (self.diversity, flat(self.model), self.step, self.claims):
            for kind in (np.float32, np.float64):
                yield np.asarray(whole, kind).tobytes()
        yield np.float64([self.share, self.share]).tobytes()
        yield to_fixed(self.claims.numpy(), "claims").tobytes()
        yield to_fixed(self.share * self.step.astype(np.float64), "model").tobytes()


def simulated(**privacy: Any) -> Simulation:
    """Build the federation."""
    content = {**CONTENT, "privacy": {**CONTENT["privacy"], **privacy}}
    return build(make_experiment(content))


@contextmanager
def known_secrets(seed: int = 18) -> Iterator[None]:
    """Draw keys, nonces and polynomials from a seed."""
    draw = random.Random(seed)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fresh.secrets, "token_bytes", draw.randbytes)
        patch.setattr(shamir.split, "__defaults__", (PRIME, draw.randrange))
        yield


def truths() -> dict[int, Truth]:
    """Let every site do what it does in the round, and look."""
    plain = build(make_experiment({**CONTENT, "privacy": {}}))
    method: Any = plain.method(plain.experiment.stages[0])
    clients = {client.id: client for client in plain.federation.clients}
    state = method.init(*start_of(plain))
    updates = {
        task.client: method.train(task, clients[task.client], {})[0]
        for task in method.plan(state)
    }
    sums, found = method.as_sums(), {}
    claims = {id: sums.claims(update) for id, update in updates.items()}
    totals = torch.stack(list(claims.values())).sum(0)
    for id, update in updates.items():
        share = sums.share(claims[id], totals, 0, len(updates))
        step = flat(update.weights) - flat(state.weights)
        diversity = update.statistics["diversity"]
        found[id] = Truth(step, share, update.weights, diversity, claims[id])
    return found


def in_process(simulation: Simulation, masks: bool = True) -> Overheard:
    """Play the round in this process, between the round loop and an engine."""
    method: Any = simulation.method(simulation.experiment.stages[0])
    heard = Overheard()
    witness = _Witnessed(method, heard)
    clients = simulation.federation.clients
    with InProcess(method, clients) as engine, masks_of(zero=not masks):
        state = method.init(*start_of(simulation))
        gate = Gate(statistics=method.statistics, sees_models=False)
        (done,) = run(witness, _Tapped(engine, heard), state, 1, gate)
    heard.model = done.state.weights
    return heard


def over_the_codec(simulation: Simulation) -> Overheard:
    """Play it with sites of their own, by Flower's messages."""
    heard = Overheard()
    with dealt(simulation) as app:
        grid = _TappedGrid(app, SITES)
        grid.heard = heard
        roster = Roster(grid, simulation)
        roster.wait_for(SITES, 10)
        (last,) = run_on_grid(grid, simulation, Judge(), roster, Patience(5.0))
    heard.model = last.weights
    return heard


def start_of(simulation: Simulation) -> tuple[Any, Any, int]:
    """Return what a stage begins with: model, sites and seed."""
    infos = [client.info for client in simulation.federation.clients]
    seed = seed_of(simulation.experiment.seed, "stage", 0)
    return simulation.initial_weights(), infos, seed


class _Tapped(WrappedEngine):
    def __init__(self, engine: Any, heard: Overheard) -> None:
        super().__init__(engine)
        self._heard = heard

    def run(self, tasks: Sequence[Task]) -> Sequence[Answer]:
        answers = list(self.engine.run(tasks))
        self._heard.answers += [dataclasses.replace(each) for each in answers]
        self._heard.texts += [b"".join(written(each)) for each in answers]
        return answers


class _TappedGrid(LoopbackGrid):
    heard: Overheard

    def pull_messages(self, message_ids: Iterable[str]) -> Iterable[Message]:
        messages = list(super().pull_messages(message_ids))
        for message in messages:
            self.heard.texts.append(b"".join(written(message.content)))
            if message.metadata.message_type == "train":
                self.heard.answers.append(decode_update(message.content))
        return messages


class _Witnessed:
    """A method whose state is looked at after each step."""

    def __init__(self, method: Masked, heard: Overheard) -> None:
        self._method, self._heard = method, heard

    def __getattr__(self, name: str) -> Any:
        return getattr(self._method, name)

    def aggregate(self, state: Any, updates: Sequence[Update]) -> Any:
        after = self._method.aggregate(state, updates)
        self._heard.kept.append(b"".join(written(after)))
        self._heard.sums += [] if after.totals is None else written(after.totals)
        return after


def written(value: Any) -> Iterator[bytes]:
    """Write down all that hangs on a value."""
    if isinstance(value, torch.Tensor):
        yield from _with_decoded(value.detach().contiguous().numpy().tobytes())
    elif isinstance(value, np.ndarray):
        yield value.tobytes()
    elif isinstance(value, Letter):
        yield from _with_decoded(value.written())
    elif isinstance(value, Array):
        yield from _with_decoded(value.data)
    elif isinstance(value, bytes):
        yield value
    elif isinstance(value, float):
        yield np.float64(value).tobytes()
    elif dataclasses.is_dataclass(value):
        for each in dataclasses.fields(value):
            yield from written(getattr(value, each.name))
    elif isinstance(value, Mapping) or hasattr(value, "items"):
        for key, each in value.items():
            yield from written(key)
            yield from written(each)
    elif isinstance(value, list | tuple):
        for each in value:
            yield from written(each)
    else:
        yield str(value).encode()


def numbers_of(answer: torch.Tensor, phase: Any) -> Any:
    """Return the masked numbers of an answer."""
    if phase == "model":
        return to_integers(answer, phase)
    return np.frombuffer(read(Claimed, answer).numbers, np.uint64)


def _with_decoded(text: bytes) -> Iterator[bytes]:
    """Write a text, and what stands in hexadecimal in it."""
    yield text
    for part in re.findall(rb"(?:[0-9a-f]{2}){8,}", text):
        yield bytes.fromhex(part.decode())


ROUTES = {"in process": in_process, "over the codec": over_the_codec}
