"""Twin-sight: a classifier and a network without labels see the same neighborhoods.

Zhang, Yang, Tian, Wang, Liu, Han, Robust Training of Federated Models with Extremely
Label Deficiency, ICLR 2024. Every client trains both: the classifier from labels and
from its own confident pseudo-labels, the twin by telling images apart (SimCLR). They
are tied by the cosines between the features of a batch, which shall be alike. Both
networks are sent and averaged by the clients' images; the classifier alone is tested.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from torch import Tensor

from fedsemi.contributions import by_num_images
from fedsemi.messages import ClientInfo, Task, Update, Weights
from fedsemi.method import Provenance
from fedsemi.methods.own_learner import OwnLearner
from fedsemi.objectives.base import Objective, SemiSupervised
from fedsemi.objectives.labeler import Labeler
from fedsemi.objectives.pseudo_label import PseudoLabel
from fedsemi.objectives.selection import Fixed
from fedsemi.objectives.supervised import Supervised
from fedsemi.objectives.twins import Twins, twin_of
from fedsemi.objectives.workbench import Parts, Workbench
from fedsemi.settings import Count, NotNegative, Positive, Share
from fedsemi.state import ServerState


@dataclass(frozen=True)
class TwinSight(OwnLearner[ServerState]):
    """Pseudo-labels and SimCLR in two networks with the same neighborhoods."""

    name = "twin-sight"
    cards = ("LPC", "LC")
    provenance = Provenance(
        "Twin-sight, ICLR",
        2024,
        "pseudo-labels, and a twin by SimCLR",
        "both networks by number of images",
        "sends a second network",
    )

    cutoff: Share = 0.95
    """Least confidence of a pseudo-label, by the local classifier."""
    contrast_weight: NotNegative = 0.5
    """Of telling images apart, in the twin."""
    neighbor_weight: NotNegative = 1.0
    """Of the gap between the neighborhoods of both networks."""
    temperature: Positive = 0.07
    """Of telling images apart."""
    projector_width: Count = 128
    """Length of the twin's projections."""
    proximal_weight: NotNegative = 0.0
    """Of ‖w − w₀‖² between both networks and those received; 0.5 in released code."""

    @property
    def parts(self) -> Parts:
        """Make the twin."""
        return partial(twin_of, self.projector_width)

    def init(
        self, weights: Weights, clients: Sequence[ClientInfo], seed: int = 0
    ) -> ServerState:
        """Begin with these weights; the twin has the same encoder."""
        self.check_needs(clients)
        parts = self.setup.first_parts(weights, self.parts, seed)
        return ServerState(weights, tuple(clients), seed=seed, parts=parts)

    def objective(self, task: Task, bench: Workbench) -> Objective:
        """Join the classifier's objective with the twin's."""
        labeler = Labeler(bench, self.cutoff)
        guessed = PseudoLabel(bench, Fixed(self.cutoff), labeler, "local")
        return Twins(
            bench,
            SemiSupervised(Supervised(bench), guessed),
            self.contrast_weight,
            self.neighbor_weight,
            self.temperature,
            self.proximal_weight,
        )

    def contributions(self, updates: Sequence[Update]) -> Tensor:
        """Return the part of all images that each client has."""
        return by_num_images(updates)
