"""Class mass: an unlabeled client counts by its part of each class's pseudo-labels.

Not from a paper. SemiAnAgg's shares follow from who shows a pseudo-class at all, so one
wrong pseudo-label counts as much as a hundred right ones. Here class c is shared out by
how many of its pseudo-labels a client has, n_kc / Σ_j n_jc, and every class counts the
same. A client sends C counts beside its model; there is no anchor.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from torch import Tensor

from fedsemi.client.learners import ProbeMaker
from fedsemi.contributions import by_class_mass
from fedsemi.messages import CLASS_COUNT, Task, Update
from fedsemi.method import Provenance, Statistic
from fedsemi.methods.averaging import ANY_LEARNER, SemiAveraging
from fedsemi.objectives.labeler import ClassCount
from fedsemi.settings import NotNegative, Share


@dataclass(frozen=True)
class ClassMass(SemiAveraging):
    """FedAvg-Semi with the unlabeled half shared out class by class."""

    name = "class-mass"
    cards = ("LC", "LPC")
    provenance = Provenance(
        "fedsemi", 2026, ANY_LEARNER, "unlabeled by class mass", "Σ_c n_kc / Σ_j n_jc"
    )

    floor: Share = 0.0
    """Least part of a client's pseudo-labels with which a class counts as its own."""
    mass_power: NotNegative = 1.0
    """Power of the counts: 1 shares a class by mass, 0 evenly among its owners."""

    def contributions(self, updates: Sequence[Update]) -> Tensor:
        """Return the labeled part, and the rest class by class."""
        share = self.labeled_share_in(updates)
        return by_class_mass(updates, share, self.floor, self.mass_power)

    @property
    def statistics(self) -> Mapping[str, Statistic]:
        """What the shares are computed from."""
        classes = self.setup.model.num_classes
        told = Statistic(classes, counts=True, of_pseudo_labels=True)
        return {CLASS_COUNT: told}

    def probe(self, task: Task) -> ProbeMaker:
        """Count the teacher's confident labels."""
        return ClassCount
