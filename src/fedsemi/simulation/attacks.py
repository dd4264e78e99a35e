"""Attacks: what one hostile client may send, or be fed, in a simulation.

An attack on data changes what the client owns; an attack on replies changes what its
engine hands to the server. The attacker has no labels: a client with labels is
trusted, and nothing here defends against it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import TracebackType
from typing import Any, Self

import torch
from torch import Tensor

from fedsemi.data.client import Client
from fedsemi.engines.in_process import InProcess
from fedsemi.local import Setup
from fedsemi.messages import CLASS_COUNT, DIVERSITY, ClientInfo, Memory, Task, Update
from fedsemi.method import Method
from fedsemi.methods.supervised import SupervisedFedAvg
from fedsemi.seeds import Streams, seed_of

_GIANT = -100.0
_COPIES = 20
_INFLATED = 10**18


@dataclass(frozen=True, eq=False)
class Scene:
    """What an attacker has to work with."""

    client: Client
    truth: Tensor | None
    """True labels of its unlabeled samples, if anybody has them: attackers may know
    everything."""
    setup: Setup
    num_classes: int

    def flipped(self, task: Task) -> Mapping[str, Tensor]:
        """Learn that every class is the next one."""
        assert self.truth is not None, "NEED_TRUTH lists the attacks that need it"
        wrong = (self.truth + 1) % self.num_classes
        images = self.client.unlabeled_images
        liar = Client(self.client.id, images, wrong, images[:0])
        return SupervisedFedAvg(self.setup).train(task, liar, {})[0].weights


Forge = Callable[[Update, Task, Scene], list[Update]]
Poison = Callable[[Client], Client]


def _nan(update: Update, task: Task, scene: Scene) -> list[Update]:
    return [_moved(update, task, float("nan"))]


def _giant(update: Update, task: Task, scene: Scene) -> list[Update]:
    return [_moved(update, task, _GIANT)]


def _flip(update: Update, task: Task, scene: Scene) -> list[Update]:
    return [replace(update, weights=scene.flipped(task))]


def _lie(update: Update, task: Task, scene: Scene) -> list[Update]:
    """Claim the most that passes every check of range and register."""
    ones = torch.ones(scene.num_classes)
    claim = _counting(replace(update, num_pseudo=update.num_unlabeled))
    return [replace(claim, statistics={**claim.statistics, DIVERSITY: ones})]


def _flip_and_lie(update: Update, task: Task, scene: Scene) -> list[Update]:
    return _lie(_flip(update, task, scene)[0], task, scene)


def _inflate(update: Update, task: Task, scene: Scene) -> list[Update]:
    return [_counting(replace(_flip(update, task, scene)[0], num_pseudo=_INFLATED))]


def _duplicate(update: Update, task: Task, scene: Scene) -> list[Update]:
    return _flip(update, task, scene) * _COPIES


def _counting(update: Update) -> Update:
    """Say that all pseudo-labels are of one class, where classes are counted."""
    if CLASS_COUNT not in update.statistics:
        return update
    count = torch.zeros_like(update.statistics[CLASS_COUNT])
    count[0] = update.num_pseudo
    return replace(update, statistics={**update.statistics, CLASS_COUNT: count})


def _moved(update: Update, task: Task, factor: float) -> Update:
    weights = {
        key: torch.lerp(old, update.weights[key], factor)
        if old.is_floating_point()
        else update.weights[key]
        for key, old in task.weights.items()
    }
    return replace(update, weights=weights)


def _noise_images(client: Client) -> Client:
    stream = Streams(seed_of("attack", client.id))["noise"]
    shape = client.unlabeled_images.shape
    noise = torch.randint(0, 256, shape, generator=stream, dtype=torch.uint8)
    return replace(client, unlabeled_images=noise)


def _blended_images(client: Client) -> Client:
    """Mix every image with another one: pseudo-labels go astray between them."""
    images = client.unlabeled_images
    stream = Streams(seed_of("attack", client.id))["blend"]
    other = images[torch.randperm(len(images), generator=stream)]
    mixed = (images.float() + other.float()) / 2
    return replace(client, unlabeled_images=mixed.to(torch.uint8))


FORGERIES: dict[str, Forge] = {
    "nan": _nan,
    "giant": _giant,
    "flip": _flip,
    "flip+lie": _flip_and_lie,
    "lie": _lie,
    "inflated": _inflate,
    "duplicates": _duplicate,
}
POISONS: dict[str, Poison] = {
    "noise-images": _noise_images,
    "blended-images": _blended_images,
}
STALE = "stale"
ATTACKS = (*FORGERIES, STALE, *POISONS)
NEED_TRUTH = ("flip", "flip+lie", "inflated", "duplicates", STALE)
"""Those that teach wrong classes, and must know the right ones for it."""


class AttackedEngine:
    """Runs clients in this process, one of them hostile."""

    def __init__(
        self,
        method: Method[Any],
        clients: Sequence[Client],
        attacker: int,
        attack: str,
        scene: Scene,
    ) -> None:
        poison = POISONS.get(attack)
        owned = [poison(c) if poison and c.id == attacker else c for c in clients]
        self._engine = InProcess(method, owned)
        self._attacker = attacker
        self._attack = attack
        self._scene = scene
        self._first: Update | None = None

    def clients(self) -> Sequence[ClientInfo]:
        """List the clients."""
        return self._engine.clients()

    def run(self, tasks: Sequence[Task]) -> Sequence[Update]:
        """Carry out the tasks; the attacker's replies are forged."""
        asked = {(task.group, task.client): task for task in tasks}
        updates: list[Update] = []
        for update in self._engine.run(tasks):
            forged = [update]
            if update.client == self._attacker:
                forged = self._forged(update, asked[update.group, update.client])
            updates += forged
        return updates

    def memory(self, client: int) -> Memory:
        """Show what a client remembers."""
        return self._engine.memory(client)

    def restore(self, memories: Mapping[int, Memory]) -> None:
        """Give clients their memories back."""
        self._engine.restore(memories)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._engine.__exit__()

    def _forged(self, update: Update, task: Task) -> list[Update]:
        if self._attack == STALE:
            self._first = self._first or _flip(update, task, self._scene)[0]
            return [self._first]
        forge = FORGERIES.get(self._attack)
        return forge(update, task, self._scene) if forge else [update]
