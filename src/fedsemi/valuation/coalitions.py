"""Worth from one round's answers: leave clients out of the mean, not of the training.

Data Shapley, truncated Monte Carlo: Ghorbani and Zou, ICML 2019.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from fedsemi.messages import Update, Weights
from fedsemi.method import Method
from fedsemi.state import ServerState

Values = npt.NDArray[np.float64]
Scorer = Callable[[Weights], Values]
"""The score of each held-out image [N]; larger is better."""


@dataclass(eq=False)
class Coalitions:
    """What the global model would be worth, had only some clients answered."""

    method: Method[Any]
    state: ServerState
    updates: Sequence[Update]
    score: Scorer
    _known: dict[frozenset[int], Values] = field(default_factory=dict)

    @property
    def clients(self) -> list[int]:
        """Who answered."""
        return sorted({update.client for update in self.updates})

    def value(self, members: frozenset[int]) -> Values:
        """Score the mean of these clients' answers, [N]."""
        if members not in self._known:
            answers = [u for u in self.updates if u.client in members]
            weights = self.state.weights
            if answers:
                weights = self.method.aggregate(self.state, answers).weights
            self._known[members] = self.score(weights)
        return self._known[members]

    def marginals(self) -> dict[int, Values]:
        """Return what each client adds to all the others, image by image [N]."""
        everyone = frozenset(self.clients)
        return {
            client: self.value(everyone) - self.value(everyone - {client})
            for client in self.clients
        }

    def shapley(self, permutations: int, tolerance: float, seed: int) -> Values:
        """Return what each client adds on joining, in random orders, [P, K].

        Once a growing coalition is within `tolerance` of everybody's score, those who
        join later are taken to add nothing.
        """
        rng = np.random.default_rng(seed)
        full = self.value(frozenset(self.clients)).mean()
        added = np.zeros((permutations, len(self.clients)))
        for row in added:
            members: frozenset[int] = frozenset()
            before = self.value(members).mean()
            for place in rng.permutation(len(self.clients)):
                if members and abs(full - before) <= tolerance:
                    break
                members |= {self.clients[place]}
                now = self.value(members).mean()
                row[place] = now - before
                before = now
        return added
