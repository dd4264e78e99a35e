"""What all methods share whose server step is one weighted mean."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Annotated, Self

import torch
from pydantic import Field
from torch import Tensor

from fedsemi.client.learners import Learner, ProbeMaker, PseudoLabeling
from fedsemi.client.local import answer
from fedsemi.data.client import Client
from fedsemi.messages import ClientInfo, Memory, Task, Update, Weights
from fedsemi.method import Method
from fedsemi.objectives.diversity import ANCHOR_SHA256
from fedsemi.objectives.workbench import Setup
from fedsemi.seeds import Streams, seed_of
from fedsemi.settings import Count, Share
from fedsemi.state import ServerState
from fedsemi.sums import Sums

ANY_LEARNER = "any, see `learner`"


@dataclass(frozen=True)
class Averaging(Method[ServerState]):
    """Everybody learns, the server averages; a method says with which shares."""

    pseudo_labels = True

    setup: Setup
    learner: Learner = field(default_factory=PseudoLabeling)
    """How clients learn."""
    participation: Annotated[float, Field(gt=0, le=1)] = 1.0
    """Part of the clients that is asked in each round, drawn anew."""

    @abstractmethod
    def contributions(self, updates: Sequence[Update]) -> Tensor:
        """Return the share of each update."""

    @property
    def metrics(self) -> frozenset[str]:
        """What method and learner log."""
        return self.own_metrics | self.learner.own_metrics

    @property
    def anchor_sha256(self) -> str:
        """Hash of the random networks that tasks announce, if they announce any."""
        announced = self.broadcast().get(ANCHOR_SHA256)
        return "" if announced is None else bytes(announced.tolist()).hex()

    def broadcast(self) -> Mapping[str, Tensor]:
        """Return what every task brings beside the model."""
        return {}

    def probe(self, task: Task) -> ProbeMaker | None:
        """Return what measures the teacher's features on the way, if anything."""
        return None

    def init(
        self, weights: Weights, clients: Sequence[ClientInfo], seed: int = 0
    ) -> ServerState:
        """Begin with these weights."""
        self.check_needs(clients)
        parts = self.setup.first_parts(weights, self.learner.parts, seed)
        return ServerState(weights, tuple(clients), seed=seed, parts=parts)

    def plan(self, state: ServerState) -> Sequence[Task]:
        """Ask every client that takes part to learn."""
        told = self.broadcast()
        return [state.task(client, 0, **told) for client in self.present(state)]

    def present(self, state: ServerState) -> Sequence[ClientInfo]:
        """Draw this round's clients."""
        return draw_clients(state, self.participation)

    def train(
        self, task: Task, client: Client, memory: Memory
    ) -> tuple[Update, Memory]:
        """Learn on one client."""
        make = partial(self.learner.objective, probe=self.probe(task))
        return answer(task, client, memory, self.setup, make, self.learner.parts)

    def aggregate(self, state: ServerState, updates: Sequence[Update]) -> ServerState:
        """Average the updates with the method's shares."""
        shares = self.contributions(updates)
        return state.advanced(state.mixed(updates, shares), updates, shares)


@dataclass(frozen=True)
class SemiAveraging(Averaging):
    """Labeled and unlabeled data each have a share of the mean, which may move."""

    labeled_share: Share = 0.5
    """Share of the mean that goes to labeled data."""
    labeled_share_end: Share | None = None
    """Where that share moves in a straight line; it stays if left out."""
    ramp_rounds: Count = 100
    """Rounds until it is there."""

    def gentler(self) -> tuple[float, Self]:
        """Go half of the way to labels alone."""
        share = (1 + self.labeled_share) / 2
        return share, replace(self, labeled_share=share, labeled_share_end=None)

    def labeled_share_in(self, updates: Sequence[Update]) -> float:
        """Return the labeled share of the round that these updates answer."""
        return (
            self.labeled_share_of(updates[0].round) if updates else self.labeled_share
        )

    def two_sums(
        self,
        unlabeled: Callable[[Update], Tensor],
        size: int = 1,
        most: float = math.inf,
    ) -> Sums:
        """Write the mean as sums: of labels, and of claims to the unlabeled part."""
        return Sums(_num_labeled, unlabeled, self.labeled_share_of, size, most)

    def labeled_share_of(self, round: int) -> float:
        """Return the labeled share of a round."""
        if self.labeled_share_end is None:
            return self.labeled_share
        done = min(round / self.ramp_rounds, 1.0)
        return (1 - done) * self.labeled_share + done * self.labeled_share_end


def _num_labeled(update: Update) -> float:
    return update.num_labeled


def draw_clients(state: ServerState, participation: float) -> Sequence[ClientInfo]:
    """Draw a part of the clients for this round, one with labels always among them.

    The draw depends on the seed and the round alone. Shares are computed over the
    updates that come, so those present stand for all.
    """
    clients = state.clients
    if participation == 1 or not clients:
        return clients
    stream = Streams(seed_of(state.seed, "participation", state.round))["draw"]
    order = torch.randperm(len(clients), generator=stream).tolist()
    chosen = order[: max(1, round(participation * len(clients)))]
    labeled = [i for i in order if clients[i].num_labeled]
    if labeled and not set(labeled) & set(chosen):
        chosen[-1] = labeled[0]
    return [clients[i] for i in sorted(chosen)]
