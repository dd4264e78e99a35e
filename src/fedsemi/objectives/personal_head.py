"""A personal head beside the global one; it never leaves the client.

Chen, Chao: On Bridging Generic and Personalized Federated Learning for Image
Classification (FedRoD), ICLR 2022.
"""

from __future__ import annotations

from copy import deepcopy

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from fedsemi.data.client import Batch
from fedsemi.models import Classifier
from fedsemi.objectives.base import Objective
from fedsemi.objectives.labeler import pseudo_labels_in
from fedsemi.objectives.workbench import Workbench


class PersonalHead(Objective):
    """Wraps an objective; learns a correction of the global head's logits on the way.

    No gradient of the personal loss reaches encoder or global head, so the wrapped
    objective learns exactly as without it. With `dual`, pseudo-labeled samples teach
    the personal head as well, and both heads together make the pseudo-labels; without
    the latter, the personal head could not influence anything that is sent.
    """

    def __init__(self, bench: Workbench, generic: Objective, dual: bool) -> None:
        super().__init__()
        self._bench = bench
        self.generic = generic
        self.dual = dual
        model = bench.setup.model
        self.personal = nn.Linear(model.num_features, model.num_classes)
        nn.init.zeros_(self.personal.weight)  # no correction at first
        nn.init.zeros_(self.personal.bias)
        local = bench.setup.local
        lr = local.lr_labeled if bench.client.num_labeled else local.lr_unlabeled
        # Its momentum lasts for one round.
        self._optimizer = torch.optim.SGD(
            self.personal.parameters(), lr=lr, momentum=local.momentum
        )
        self._losses: list[float] = []

    def prepare(self) -> None:
        """Let the wrapped objective prepare."""
        self.generic.prepare()

    def start_epoch(self, teacher: Classifier) -> None:
        """Let the global head label, or both heads as one."""
        self.generic.start_epoch(self._joined(teacher) if self.dual else teacher)
        self.num_pseudo = self.generic.num_pseudo

    def forward(self, student: Classifier, batch: Batch) -> Tensor:
        """Teach the personal head, then return the wrapped loss."""
        images, target = self._samples(batch)
        if len(target):
            self._learn(student, images, target)
        loss: Tensor = self.generic(student, batch)
        self.num_pseudo = self.generic.num_pseudo
        return loss

    def after_step(self, student: Classifier) -> None:
        """Let the wrapped objective follow the student."""
        self.generic.after_step(student)

    def statistics(self) -> dict[str, Tensor]:
        """Report what the wrapped objective reports: nothing of the personal head."""
        return self.generic.statistics()

    def metrics(self) -> dict[str, float]:
        """Log the mean loss of both heads together."""
        mean = sum(self._losses) / len(self._losses) if self._losses else 0.0
        return {**self.generic.metrics(), "personal_loss": mean}

    def _learn(self, student: Classifier, images: Tensor, target: Tensor) -> None:
        student.eval()
        with torch.no_grad():
            output = student(self._bench.clean(images))
        student.train()
        logits = output.logits + self.personal(output.feature)
        loss = F.cross_entropy(logits, target)
        self._optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        self._optimizer.step()
        self._losses.append(float(loss.detach()))

    def _samples(self, batch: Batch) -> tuple[Tensor, Tensor]:
        images, target = self._bench.labeled(batch.labeled)
        if not self.dual:
            return images, target
        label = pseudo_labels_in(dict(self.generic.named_buffers()))
        if label is None:
            return images, target
        guess = label[batch.unlabeled.to(label.device)].long()
        sure = guess >= 0
        more = self._bench.unlabeled(batch.unlabeled)[sure]
        images = torch.cat([images, more]) if len(target) else more
        return images, torch.cat([target, guess[sure]])

    def _joined(self, teacher: Classifier) -> Classifier:
        """Add up two linear heads on one feature: a linear head again."""
        joined = deepcopy(teacher)
        with torch.no_grad():
            joined.head.weight.add_(self.personal.weight)
            joined.head.bias.add_(self.personal.bias)
        return joined
