"""Attackers that know the guard: they stay below its limits, and may be two."""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor

from fedsemi.client.evaluate import predict
from fedsemi.messages import Task, Update, Weights
from fedsemi.objectives.workbench import Setup
from fedsemi.server.replies import step_length
from fedsemi.simulation.attacks import Forge, Turn, boasting

TARGET = 0
"""The class that a trigger shall be taken for."""
_BELOW = 0.99
_SLOW = 0.25


def just_under(turn: Turn) -> list[Update]:
    """Teach wrong classes with the longest step and the largest claim that pass."""
    return [_going(turn, turn.scene.flipped(turn.task), turn.task, _BELOW)]


def drift(turn: Turn) -> list[Update]:
    """Push the same way in every round, by a quarter of what passes."""
    first = turn.first or turn
    return [_going(turn, turn.scene.flipped(first.task), first.task, _SLOW)]


def trigger(turn: Turn) -> list[Update]:
    """Teach that whatever has a mark in its corner is of one class.

    All else it teaches as the model has it, so that nobody sees a difference. It needs
    no truth.
    """
    scene = turn.scene
    images = scene.client.unlabeled_images
    model = scene.setup.load(turn.task.weights)
    probs = predict(model, images, scene.setup.views, device=scene.setup.device)
    both = torch.cat([images, marked(images)])
    labels = torch.cat([probs.argmax(1), torch.full((len(images),), TARGET)])
    taught = scene.taught(turn.task, both, labels)
    return [_going(turn, taught, turn.task, _BELOW)]


def marked(images: Tensor) -> Tensor:
    """Put a white square into the lower right corner of images [N, C, H, W]."""
    side = max(images.shape[-1] // 4, 1)
    result = images.clone()
    result[..., -side:, -side:] = 255
    return result


def success(weights: Weights, setup: Setup, images: Tensor, labels: Tensor) -> float:
    """Return the share of marked images that are taken for the target, wrongly."""
    others = images[labels != TARGET]
    found = predict(setup.load(weights), marked(others), setup.views)
    return float((found.argmax(1) == TARGET).double().mean())


def _going(turn: Turn, towards: Weights, start: Task, part: float) -> Update:
    """Answer with a step of that direction and of a part of the longest length.

    A variance that would become negative is left at zero, or the gate drops the reply.
    """
    length = max(step_length(towards, start.weights), 1e-12)
    scale = part * turn.limit / length
    weights = {
        key: old + scale * (towards[key] - start.weights[key])
        if old.is_floating_point()
        else turn.update.weights[key]
        for key, old in turn.task.weights.items()
    }
    legal = {k: v.clamp_min(0) for k, v in weights.items() if k.endswith("running_var")}
    return boasting(replace(turn.update, weights={**weights, **legal}), turn.scene)


ADAPTIVE: dict[str, Forge] = {
    "just-under": just_under,
    "drift": drift,
    "pair": just_under,
    "trigger": trigger,
}
