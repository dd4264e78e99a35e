"""RSCFed: random groups of clients agree among themselves before all of them do.

Liang et al., RSCFed: Random Sampling Consensus Federated Semi-supervised Learning,
CVPR 2022. Each round draws S groups of P clients; a client in two groups learns twice
from the same global weights, and its teacher and momentum carry over. Within a group
clients count by their closeness to the group's mean (`contributions.by_consensus`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from fedsemi.client.local import answer
from fedsemi.contributions import by_consensus
from fedsemi.data.client import Client
from fedsemi.messages import Memory, Task, Update
from fedsemi.method import Method, Provenance
from fedsemi.objectives.base import Objective, SemiSupervised, View
from fedsemi.objectives.labeler import Labeler
from fedsemi.objectives.mean_teacher import MeanTeacher
from fedsemi.objectives.supervised import Supervised
from fedsemi.objectives.workbench import Setup, Workbench
from fedsemi.seeds import Streams, seed_of
from fedsemi.settings import Count, NotNegative, Positive, Share
from fedsemi.state import ServerState


@dataclass(frozen=True)
class RSCFed(Method[ServerState]):
    """Groups of mean teachers, averaged by their distance from the group's mean."""

    name = "rscfed"
    cards = ("LC",)
    provenance = Provenance(
        "RSCFed, CVPR", 2022, "mean teacher", "by closeness to each group's mean"
    )

    setup: Setup
    groups: Count = 3
    """S, groups that are drawn in each round."""
    group_size: Count = 5
    """P, clients in a group; all of them if there are fewer."""
    labeled_boost: Positive = 6.0
    """How much more a client with labels counts."""
    labeled_boost_once: bool = False
    """Boost the group's mean only; as released, the final weights are boosted too."""
    scale_labeled: NotNegative = 100.0
    """How fast a weight falls with the distance in a group with labels (b_sup)."""
    scale_unlabeled: NotNegative = 10000.0
    """The same in a group without labels (b_unsup)."""
    unsupervised_weight: NotNegative = 0.02
    """Of the squared error between student and sharpened teacher."""
    teacher_keep: Share = 0.999
    """What a teacher keeps of itself in a step, once it is old enough."""
    views: View = "strong"
    """The paper's re-run has strong views (our reading); RSCFed itself weak ones."""
    legacy_teacher_bn: bool = False
    """Never update the teacher's batch-norm statistics, as released."""
    legacy_distance: bool = False
    """Let batch norm's step counters enter the distance, as released."""

    @property
    def questions(self) -> int:
        """A client may be drawn into every group."""
        return max(self.groups, 2)

    def plan(self, state: ServerState) -> Sequence[Task]:
        """Draw the groups; within one, no client twice."""
        clients = sorted(state.clients, key=lambda client: client.id)
        streams = Streams(seed_of(state.seed, "groups", state.round))
        tasks: list[Task] = []
        for group in range(self.groups):
            order = torch.randperm(len(clients), generator=streams[f"group {group}"])
            drawn = sorted(order[: self.group_size].tolist())
            tasks += [state.task(clients[i], group) for i in drawn]
        return tasks

    def train(
        self, task: Task, client: Client, memory: Memory
    ) -> tuple[Update, Memory]:
        """Learn from labels and from the client's own mean teacher."""
        return answer(task, client, memory, self.setup, self._objective)

    def aggregate(self, state: ServerState, updates: Sequence[Update]) -> ServerState:
        """Average within the groups, then over them."""
        shares = by_consensus(
            updates,
            (self.scale_labeled, self.scale_unlabeled),
            self.labeled_boost,
            self.labeled_boost_once,
            self.legacy_distance,
        )
        return state.advanced(state.mixed(updates, shares), updates, shares)

    def _objective(self, bench: Workbench) -> Objective:
        supervised = Supervised(bench, self.views)
        if not bench.client.num_unlabeled:
            return supervised
        teacher = MeanTeacher(
            bench,
            Labeler(bench),  # its cutoff of 0.9 is for the records only
            weight=self.unsupervised_weight,
            temperature=0.5,
            keep=self.teacher_keep,
            view=self.views,
            copy_buffers=not self.legacy_teacher_bn,
        )
        return SemiSupervised(supervised, teacher)
