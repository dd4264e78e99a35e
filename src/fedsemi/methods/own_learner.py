"""What methods share whose clients learn in a way of their own and are averaged."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated

from pydantic import Field
from torch import Tensor

from fedsemi.client.local import answer
from fedsemi.data.client import Client
from fedsemi.messages import Memory, Task, Update
from fedsemi.method import Method
from fedsemi.methods.averaging import draw_clients
from fedsemi.objectives.base import Objective
from fedsemi.objectives.workbench import Parts, Setup, Workbench
from fedsemi.state import S


@dataclass(frozen=True)
class OwnLearner(Method[S]):
    """A part of the clients is asked and learns; their updates are averaged."""

    needs = frozenset({"labels"})
    pseudo_labels = True

    setup: Setup
    participation: Annotated[float, Field(gt=0, le=1)] = 1.0
    """Part of the clients that is asked in each round, drawn anew."""

    @property
    def parts(self) -> Parts | None:
        """What makes the parts that travel beside the classifier, if any."""
        return None

    @abstractmethod
    def objective(self, task: Task, bench: Workbench) -> Objective:
        """Build what a client learns by."""

    @abstractmethod
    def contributions(self, updates: Sequence[Update]) -> Tensor:
        """Return the share of each update."""

    def plan(self, state: S) -> Sequence[Task]:
        """Ask every client that takes part to learn."""
        return [state.task(c) for c in draw_clients(state, self.participation)]

    def train(
        self, task: Task, client: Client, memory: Memory
    ) -> tuple[Update, Memory]:
        """Learn on one client."""
        make = partial(self.objective, task)
        return answer(task, client, memory, self.setup, make, self.parts)

    def aggregate(self, state: S, updates: Sequence[Update]) -> S:
        """Average the updates with the method's shares."""
        shares = self.contributions(updates)
        return state.advanced(state.mixed(updates, shares), updates, shares)
