"""IsoFed: labeled and unlabeled clients never meet in one mean.

After Saha et al., Rethinking Semi-Supervised Federated Learning: How to co-train
fully-labeled and fully-unlabeled client imaging data, MICCAI 2023. **Our reading, not
the authors' method**: known to us are the isolated means in alternating phases and a
self-supervised pre-training on every client. That the latter maximizes information
(it is left out unless asked for), that unlabeled clients learn from a mean teacher as
in RSCFed, and all constants are guesses.

A round has two phases. Labeled clients learn from labels and are averaged; unlabeled
clients go on from there, and their mean is the round's model. Both means are tested.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from fedsemi.client.local import answer
from fedsemi.contributions import by_num_images
from fedsemi.data.client import Client
from fedsemi.messages import ClientInfo, Memory, Task, Update, Weights
from fedsemi.method import Method, Provenance
from fedsemi.objectives.base import Objective, View
from fedsemi.objectives.information import InformationMaximization, PreTrained
from fedsemi.objectives.labeler import Labeler
from fedsemi.objectives.mean_teacher import MeanTeacher
from fedsemi.objectives.supervised import Supervised
from fedsemi.objectives.workbench import Setup, Workbench, with_epochs
from fedsemi.settings import NotNegative, Share, Whole
from fedsemi.state import ServerState

_LABELED, _UNLABELED = 0, 1


@dataclass(frozen=True)
class IsoFedState(ServerState):
    """The server's state with the phase of the round."""

    phase: int = _LABELED
    """0: labeled clients learn; 1: unlabeled ones."""
    labeled: Weights = field(default_factory=dict)
    """The labeled clients' mean in this round or the last."""

    @property
    def also_tested(self) -> Mapping[str, Weights]:
        """The labeled clients' mean, which says what the second phase is good for."""
        return {"labeled": self.labeled} if self.labeled else {}


@dataclass(frozen=True)
class IsoFed(Method[IsoFedState]):
    """Isolated means of labeled and unlabeled clients, by turns (our reading)."""

    name = "isofed"
    cards = ("LC",)
    provenance = Provenance(
        "IsoFed, MICCAI",
        2023,
        "a mean teacher",
        "labeled and unlabeled by turns",
        "our reading",
    )
    needs = frozenset({"labels", "unlabeled images"})

    setup: Setup
    pretrain_epochs: Whole = 0
    """Epochs of information maximization before learning, in every phase: our guess
    at the paper's pre-training, which harms it on digits, hence none."""
    pretrain_weight: NotNegative = 1.0
    """Of its loss."""
    unsupervised_weight: NotNegative = 0.02
    """Of the squared error between student and sharpened teacher."""
    teacher_keep: Share = 0.999
    """What a teacher keeps of itself in a step, once it is old enough."""
    views: View = "strong"
    """Strong views as in the paper's re-run, or weak ones only."""

    def init(
        self, weights: Weights, clients: Sequence[ClientInfo], seed: int = 0
    ) -> IsoFedState:
        """Begin with these weights; both kinds of data are needed."""
        self.check_needs(clients)
        return IsoFedState(weights, tuple(clients), seed=seed)

    def plan(self, state: IsoFedState) -> Sequence[Task]:
        """Ask the clients whose turn it is; the group of a task is its phase."""
        labeled = state.phase == _LABELED
        return [
            state.task(client, group=state.phase)
            for client in state.clients
            if (client.num_labeled if labeled else client.num_unlabeled)
        ]

    def train(
        self, task: Task, client: Client, memory: Memory
    ) -> tuple[Update, Memory]:
        """Pre-train and learn on the part of the data whose turn it is."""
        labeled = task.group == _LABELED
        part = client.only_labeled() if labeled else client.only_unlabeled()
        epochs = self.pretrain_epochs + self.setup.local.epochs
        make = self._supervised if labeled else self._unsupervised
        setup = with_epochs(self.setup, epochs)
        update, kept = answer(task, part, memory, setup, make)
        # A partially labeled client keeps its teacher through the labeled phase.
        return update, {**memory, **kept}

    def aggregate(self, state: IsoFedState, updates: Sequence[Update]) -> IsoFedState:
        """Average the phase's clients by size; the second phase closes the round."""
        shares = by_num_images(updates)
        weights = state.mixed(updates, shares)
        if state.phase == _LABELED:
            return replace(state, weights=weights, phase=_UNLABELED, labeled=weights)
        return replace(state.advanced(weights, updates, shares), phase=_LABELED)

    def _supervised(self, bench: Workbench) -> Objective:
        return self._pretrained(bench, Supervised(bench, self.views))

    def _unsupervised(self, bench: Workbench) -> Objective:
        teacher = MeanTeacher(
            bench,
            Labeler(bench),
            weight=self.unsupervised_weight,
            temperature=0.5,
            keep=self.teacher_keep,
            view=self.views,
        )
        return self._pretrained(bench, teacher)

    def _pretrained(self, bench: Workbench, then: Objective) -> Objective:
        first = InformationMaximization(bench, self.pretrain_weight)
        return PreTrained(first, self.pretrain_epochs, then)
