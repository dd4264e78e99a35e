"""Attacks: what one hostile client may send, or be fed, in a simulation.

An attack on data changes what the client owns; an attack on replies changes what its
engine hands to the server. The attacker has no labels: a client with labels is
trusted, and nothing here defends against it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from fedsemi.data.client import Client
from fedsemi.messages import CLASS_COUNT, DIVERSITY, Task, Update, Weights
from fedsemi.methods.supervised import SupervisedFedAvg
from fedsemi.objectives.workbench import Setup
from fedsemi.seeds import Streams, seed_of

_GIANT = -100.0
_FACTOR = 10_000
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

    def taught(self, task: Task, images: Tensor, labels: Tensor) -> Weights:
        """Learn these labels from the model that came."""
        liar = Client(self.client.id, images, labels, images[:0])
        return SupervisedFedAvg(self.setup).train(task, liar, {})[0].weights

    def flipped(self, task: Task) -> Weights:
        """Learn that every class is the next one."""
        assert self.truth is not None, "NEED_TRUTH lists the attacks that need it"
        wrong = (self.truth + 1) % self.num_classes
        return self.taught(task, self.client.unlabeled_images, wrong)


@dataclass(frozen=True, eq=False)
class Turn:
    """What an attacker sees when it is to answer."""

    update: Update
    """What it would answer if it were honest."""
    task: Task
    scene: Scene
    limit: float
    """The longest step that the guard lets pass, given the others' of this round."""
    first: Turn | None = None
    """Its first turn, from the second one on."""


Forge = Callable[[Turn], list[Update]]
Poison = Callable[[Client], Client]


def _nan(turn: Turn) -> list[Update]:
    return [_moved(turn, float("nan"))]


def _giant(turn: Turn) -> list[Update]:
    return [_moved(turn, _GIANT)]


def _scaled(turn: Turn) -> list[Update]:
    """Multiply the model; nothing of it is out of range."""
    weights = {
        key: value * _FACTOR if value.is_floating_point() else value
        for key, value in turn.update.weights.items()
    }
    return [boasting(replace(turn.update, weights=weights), turn.scene)]


def _flip(turn: Turn) -> list[Update]:
    return [replace(turn.update, weights=turn.scene.flipped(turn.task))]


def _lie(turn: Turn) -> list[Update]:
    return [boasting(turn.update, turn.scene)]


def _flip_and_lie(turn: Turn) -> list[Update]:
    return [boasting(each, turn.scene) for each in _flip(turn)]


def _inflate(turn: Turn) -> list[Update]:
    return [_counting(replace(each, num_pseudo=_INFLATED)) for each in _flip(turn)]


def _duplicate(turn: Turn) -> list[Update]:
    return _flip(turn) * _COPIES


def _stale(turn: Turn) -> list[Update]:
    return _flip(turn.first or turn)


def boasting(update: Update, scene: Scene) -> Update:
    """Claim the most that passes every check of range and register."""
    claim = _counting(replace(update, num_pseudo=update.num_unlabeled))
    if DIVERSITY not in claim.statistics:
        return claim  # the gate refuses what the method does not read
    ones = torch.ones(scene.num_classes)
    return replace(claim, statistics={**claim.statistics, DIVERSITY: ones})


def _counting(update: Update) -> Update:
    """Say that all pseudo-labels are of one class, where classes are counted."""
    if CLASS_COUNT not in update.statistics:
        return update
    count = torch.zeros_like(update.statistics[CLASS_COUNT])
    count[0] = update.num_pseudo
    return replace(update, statistics={**update.statistics, CLASS_COUNT: count})


def _moved(turn: Turn, factor: float) -> Update:
    weights = {
        key: torch.lerp(old, turn.update.weights[key], factor)
        if old.is_floating_point()
        else turn.update.weights[key]
        for key, old in turn.task.weights.items()
    }
    return replace(turn.update, weights=weights)


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
    "scaled": _scaled,
    "flip": _flip,
    "flip+lie": _flip_and_lie,
    "lie": _lie,
    "inflated": _inflate,
    "duplicates": _duplicate,
    "stale": _stale,
}
POISONS: dict[str, Poison] = {
    "noise-images": _noise_images,
    "blended-images": _blended_images,
}
