"""The two networks of a client: a student that learns, and the round's frozen teacher.

All clients of a process that are sent the same model have one teacher; a student is a
copy of it, which takes a third of the time of building one and loading the weights.
"""

from __future__ import annotations

from dataclasses import dataclass

from fedsemi.messages import Weights
from fedsemi.models import Classifier
from fedsemi.models.copying import copied
from fedsemi.objectives.workbench import Parts, Setup


def networks(
    setup: Setup, weights: Weights, parts: Parts | None = None
) -> tuple[Classifier, Classifier]:
    """Return a student of one's own and the teacher."""
    found = _found(setup, weights, parts)
    return found.student(), found.network


def teacher_of(
    setup: Setup, weights: Weights, parts: Parts | None = None
) -> Classifier:
    """Return the frozen network with these weights, which nobody may change."""
    return _found(setup, weights, parts).network


def frozen(model: Classifier) -> Classifier:
    """Put a model in test mode and stop its gradients."""
    return model.eval().requires_grad_(False)


@dataclass(frozen=True, eq=False)
class _Teacher:
    setup: Setup
    weights: Weights
    """Known by its identity: whoever changed it in place would be taught the old."""
    parts: Parts | None
    network: Classifier
    learns: tuple[bool, ...]
    """Which parameters of a student get gradients."""
    modes: tuple[bool, ...]
    """Which modules of a student begin in training mode."""

    @classmethod
    def made(cls, setup: Setup, weights: Weights, parts: Parts | None) -> _Teacher:
        model = setup.load(weights, parts)
        learns = tuple(each.requires_grad for each in model.parameters())
        modes = tuple(each.training for each in model.modules())
        return cls(setup, weights, parts, frozen(model), learns, modes)

    def serves(self, setup: Setup, weights: Weights, parts: Parts | None) -> bool:
        mine = self.setup.model, self.setup.precision, self.setup.device
        theirs = setup.model, setup.precision, setup.device
        return self.weights is weights and self.parts is parts and mine == theirs

    def student(self) -> Classifier:
        student = copied(self.network)
        for parameter, learns in zip(student.parameters(), self.learns, strict=True):
            parameter.requires_grad_(learns)
        for module, mode in zip(student.modules(), self.modes, strict=True):
            module.training = mode
        return student


_last: _Teacher | None = None


def _found(setup: Setup, weights: Weights, parts: Parts | None) -> _Teacher:
    global _last
    if _last is None or not _last.serves(setup, weights, parts):
        _last = None  # so that there are never two of them
        _last = _Teacher.made(setup, weights, parts)
    return _last
