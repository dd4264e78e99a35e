"""SemiAnAgg's shares handed to the wrong clients: the control for their meaning.

A round has the same permutation in every run: it is drawn from `permutation_seed` and
the number of the round in its stage, not from the seed of the run. So a mean over runs
is not one over permutations.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from torch import Tensor

from fedsemi.contributions import permuted
from fedsemi.messages import Update
from fedsemi.method import Provenance
from fedsemi.methods.averaging import ANY_LEARNER
from fedsemi.methods.semianagg import SemiAnAgg


@dataclass(frozen=True)
class PermutedSemi(SemiAnAgg):
    """Eq. 4 with its unlabeled shares shuffled among the clients in every round."""

    name = "permuted-semi"
    cards = ("LC", "LPC")
    provenance = Provenance(
        "fedsemi", 2026, ANY_LEARNER, "SemiAnAgg's shares, shuffled", "a control"
    )

    permutation_seed: int = 0
    """From which each round's permutation is drawn, whatever the run's seed is."""

    def contributions(self, updates: Sequence[Update]) -> Tensor:
        """Return Eq. 4, shuffled."""
        share = self.labeled_share_in(updates)
        seed, sharpness = self.permutation_seed, self.sharpness
        return permuted(updates, share, self.rule, seed, sharpness)
