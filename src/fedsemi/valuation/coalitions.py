"""Worth from one round's answers: leave clients out of the mean, not of the training.

Where a method asks for numbers before clients learn, both answers are left out. A
phase that nobody of a coalition answered fails the whole round, as it does in a run:
the model stays as it was. Where clients learn from what others made of the model in the
same round, their answers have these in them, and nobody can be left out afterwards.

Data Shapley, truncated Monte Carlo: Ghorbani and Zou, ICML 2019.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from fedsemi.flat import Flat
from fedsemi.messages import Update, Weights
from fedsemi.method import Method, WrappedMethod
from fedsemi.state import S, ServerState

Values = npt.NDArray[np.float64]
Scorer = Callable[[Weights], Values]
"""The score of each held-out image [N]; larger is better."""


class Remembering(WrappedMethod[S]):
    """A method that keeps the answers of the round that is on, by phase."""

    def __init__(self, method: Method[S]) -> None:
        super().__init__(method)
        self.phases: list[Sequence[Update]] = []
        self.moved = False
        """Whether the model has moved before a round was over."""

    def aggregate(self, state: S, updates: Sequence[Update]) -> S:
        """Aggregate as the method does; keep what it was given."""
        new = self.method.aggregate(state, updates)
        if new.round == state.round:
            self.moved |= new.weights is not state.weights
            # The tasks of the next phase may take the place of these answers on disk.
            updates = [replace(u, weights=Flat.held(u.weights)) for u in updates]
        self.phases.append(updates)
        return new

    def taken(self) -> list[Sequence[Update]]:
        """Hand out the answers of the round that is over."""
        phases, self.phases = self.phases, []
        return phases


@dataclass(eq=False)
class Coalitions:
    """What the global model would be worth, had only some clients answered."""

    method: Method[Any]
    state: ServerState
    """Before the round."""
    phases: Sequence[Sequence[Update]]
    """The answers that the round was made of."""
    score: Scorer
    _known: dict[frozenset[int], Values] = field(default_factory=dict)

    @property
    def clients(self) -> list[int]:
        """Who answered."""
        return sorted({update.client for phase in self.phases for update in phase})

    def value(self, members: frozenset[int]) -> Values:
        """Score the mean of these clients' answers, [N]."""
        if members not in self._known:
            self._known[members] = self.score(self._combined(members))
        return self._known[members]

    def _combined(self, members: frozenset[int]) -> Weights:
        state = self.state
        for phase in self.phases:
            answers = [update for update in phase if update.client in members]
            if phase and not answers:
                return self.state.weights
            state = self.method.aggregate(state, answers)
        return state.weights

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
