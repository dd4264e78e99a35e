"""CBAFed's residual connection: now and then most of an older model comes back.

Li et al., CVPR 2023 (see `cbafed`). The same step is used over epochs and over rounds.
`keep` is the older model's share.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from fedsemi.messages import Weights
from fedsemi.models import Classifier
from fedsemi.state import ServerState
from fedsemi.weights import blend, weights_of


@dataclass(frozen=True)
class ResidualState(ServerState):
    """The server's state with the older model."""

    residual: Weights = field(default_factory=dict)
    """The model that the next mix returns to."""


def is_due(step: int, every: int, steps: int) -> bool:
    """Tell whether a step, counted from zero, ends in a mix: every few, and the last.

    The released lengths are a multiple of five and one more, so they end on a mix; a
    few steps of plain learning after it undo much of it. Steps too few for a first mix
    have none: the last one would return to a model that has hardly learned.
    """
    ends = step + 1 == steps and step > every
    return step > 0 and (step % every == 0 or ends)


def over_epochs(
    epochs: Iterator[float], student: Classifier, every: int, keep: float, number: int
) -> Iterator[float]:
    """Pass the losses of so many epochs on, and mix the student on the way."""
    kept: Weights = {}
    for epoch, loss in enumerate(epochs):
        if epoch == 0:
            kept = weights_of(student)
        elif is_due(epoch, every, number):
            kept = blend(kept, weights_of(student), keep)
            student.load_state_dict(kept)
        yield loss
