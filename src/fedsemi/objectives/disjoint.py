"""Labels teach one part of each weight, σ; unlabeled images teach the other, ψ.

Jeong, Yoon, Yang, Hwang, Federated Semi-Supervised Learning with Inter-Client
Consistency and Disjoint Learning, ICLR 2021 (FedMatch).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import NamedTuple, cast

import torch
from torch import Tensor
from torch.func import functional_call
from torch.nn import functional as F

from fedsemi.data.client import Batch
from fedsemi.messages import PSEUDO_LABEL
from fedsemi.models import Classifier
from fedsemi.objectives.base import Objective
from fedsemi.objectives.discrepancy import divergence
from fedsemi.objectives.two_parts import pairs_of
from fedsemi.objectives.workbench import Workbench


class Weighing(NamedTuple):
    """Weights of the parts of the loss."""

    labels: float
    """Of the loss on labels."""
    agreement: float
    """Of learning the label that most models voted for."""
    consistency: float
    """Of predicting as the helpers do."""
    nearness: float
    """Of ‖σ − ψ‖²."""
    sparsity: float
    """Of ‖ψ‖₁."""


def votes(predictions: Sequence[Tensor]) -> Tensor:
    """Return the class that most models predict, [B]; the first one of a tie.

    >>> one = torch.tensor([[0.9, 0.1, 0.0], [0.2, 0.8, 0.0]])
    >>> two = torch.tensor([[0.0, 0.6, 0.4], [0.3, 0.4, 0.3]])
    >>> three = torch.tensor([[0.1, 0.7, 0.2], [0.0, 0.1, 0.9]])
    >>> votes([one, two, three]).tolist(), votes([one, two]).tolist()
    ([1, 1], [0, 1])
    """
    classes = predictions[0].shape[1]
    given = [F.one_hot(each.argmax(1), classes) for each in predictions]
    return torch.stack(given).sum(0).argmax(1)


class Disjoint(Objective):
    """The loss on labels moves σ alone, that on unlabeled images ψ alone.

    A sample counts if the client's own model is sure of its weak view. The strong view
    learns what this model and the helpers vote for, the weak view what helpers predict.

    Args:
        bench: The client's workbench.
        supervised: The loss on labels.
        helpers: Frozen models of other clients; none in most rounds.
        cutoff: Least confidence of a sample that counts.
        weighing: Of the parts of the loss.
    """

    pseudo_label: Tensor

    def __init__(
        self,
        bench: Workbench,
        supervised: Objective,
        helpers: Sequence[Classifier],
        cutoff: float,
        weighing: Weighing,
    ) -> None:
        super().__init__()
        self._bench = bench
        self.supervised = supervised
        self._helpers = list(helpers)  # a list hides them from the state dict
        self.cutoff = cutoff
        self.weighing = weighing
        nothing = torch.full((bench.client.num_unlabeled,), -1, dtype=torch.int16)
        self.register_buffer(PSEUDO_LABEL, nothing)

    def start_epoch(self, teacher: Classifier) -> None:
        """Forget the labels of the last epoch."""
        self.pseudo_label.fill_(-1)
        self.num_pseudo = 0

    def forward(self, student: Classifier, batch: Batch) -> Tensor:
        """Add the losses of what there is data of; each teaches one part alone."""
        pairs = pairs_of(student)
        losses: list[Tensor] = []
        if len(batch.labeled):
            whole = {name: sigma + psi.detach() for name, (sigma, psi) in pairs.items()}
            loss = self.supervised(_with(student, whole), batch)
            losses.append(self.weighing.labels * loss)
        if len(batch.unlabeled):
            whole = {name: sigma.detach() + psi for name, (sigma, psi) in pairs.items()}
            losses.append(self._unsupervised(_with(student, whole), batch.unlabeled))
            losses.append(regularized(pairs.values(), self.weighing))
        return torch.stack(losses).sum()

    def _unsupervised(self, student: Classifier, index: Tensor) -> Tensor:
        images = self._bench.unlabeled_for_views(index)
        weak, strong = self._bench.weak(images), self._bench.strong(images)
        seen, logits = self._bench.show(student, [weak, strong]).logits.chunk(2)
        own = seen.detach().softmax(1)
        sure = own.amax(1) >= self.cutoff
        if not sure.any():
            return logits.sum() * 0
        with torch.no_grad():
            theirs = [each(weak[sure]).logits.softmax(1) for each in self._helpers]
        label = votes([own[sure], *theirs])
        self.pseudo_label[index.to(label.device)[sure]] = label.to(torch.int16)
        self.num_pseudo = int((self.pseudo_label >= 0).sum())
        loss = self.weighing.agreement * F.cross_entropy(logits[sure], label)
        if theirs:
            gaps = torch.stack([divergence(p, seen[sure]).mean() for p in theirs])
            loss = loss + self.weighing.consistency * gaps.mean()
        return loss


def regularized(pairs: Iterable[tuple[Tensor, Tensor]], weighing: Weighing) -> Tensor:
    """Return what keeps ψ near σ and sparse; σ stands still.

    >>> pair = torch.tensor([3.0, 0.0]), torch.tensor([1.0, -2.0])
    >>> weighing = Weighing(0, 0, 0, nearness=10.0, sparsity=0.5)
    >>> float(regularized([pair], weighing))  # 10 (4 + 4) + ½ (1 + 2)
    81.5
    """
    return torch.stack(
        [
            weighing.nearness * (sigma.detach() - psi).square().sum()
            + weighing.sparsity * psi.abs().sum()
            for sigma, psi in pairs
        ]
    ).sum()


def _with(student: Classifier, weights: Mapping[str, Tensor]) -> Classifier:
    """Return the student as it is with these weights; its batch norm is the same."""
    return cast(Classifier, partial(functional_call, student, dict(weights)))
