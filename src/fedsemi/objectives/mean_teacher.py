"""A mean teacher: the student agrees with a running mean of its own past models.

Tarvainen and Valpola, Mean teachers are better role models, NeurIPS 2017; with
sharpened targets as in RSCFed (CVPR 2022).
"""

from __future__ import annotations

import torch
from torch import Tensor

from fedsemi.data.client import Batch
from fedsemi.models import Classifier
from fedsemi.objectives.base import Objective, View
from fedsemi.objectives.labeler import Labeler
from fedsemi.objectives.workbench import Workbench


class MeanTeacher(Objective):
    """Squared error between the student's and the teacher's probabilities.

    The teacher is the client's own and lives on in its memory: on the first visit it
    is the model received, and nothing but the student moves it afterwards. The error
    is summed over classes and divided by the nominal batch size, so that a short last
    batch weighs less.

    Args:
        bench: The client's workbench.
        labeler: Makes the teacher's pass over the weak view, and counts.
        weight: Of the loss.
        ramp_steps: Steps over which the weight grows from zero; 0 for no ramp.
        temperature: Below one, the teacher's probabilities are sharpened.
        keep: What the teacher keeps of itself in a step; less in the first steps.
        view: The student's view.
        copy_buffers: Whether the teacher takes the student's batch-norm statistics.
            If not, they stay for ever as they were on the first visit.
    """

    step: Tensor

    def __init__(
        self,
        bench: Workbench,
        labeler: Labeler,
        *,
        weight: float = 1.0,
        ramp_steps: int = 0,
        temperature: float = 1.0,
        keep: float = 0.999,
        view: View = "weak",
        copy_buffers: bool = True,
    ) -> None:
        super().__init__()
        self._bench = bench
        self.labeler = labeler
        self.weight = weight
        self.ramp_steps = ramp_steps
        self.temperature = temperature
        self.keep = keep
        self.view = view
        self.copy_buffers = copy_buffers
        model = bench.setup.model
        teacher = model.laid_out(model.empty())
        teacher.precision = bench.setup.precision
        self.teacher: Classifier = teacher.eval().requires_grad_(False)
        self.register_buffer("step", torch.zeros((), dtype=torch.long))

    def prepare(self) -> None:
        """Let the labeler prepare."""
        self.labeler.prepare()

    def start_epoch(self, teacher: Classifier) -> None:
        """Begin as the model received, if the client has never learned."""
        self.labeler.forget()
        if not self.step:
            self.teacher.load_state_dict(teacher.state_dict())

    def forward(self, student: Classifier, batch: Batch) -> Tensor:
        """Return the weighted error of the unlabeled part."""
        target = self.look(batch)
        return self.error(self.see(student, batch).softmax(1), target)

    def look(self, batch: Batch) -> Tensor:
        """Return the teacher's probabilities for the unlabeled part, [B, C]."""
        probs: Tensor = self.labeler(self.teacher, batch.unlabeled)
        self.num_pseudo = self.labeler.num_pseudo
        return sharpened(probs, self.temperature)

    def see(self, student: Classifier, batch: Batch) -> Tensor:
        """Return the student's logits for another view of the unlabeled part."""
        draw = self._bench.strong if self.view == "strong" else self._bench.weak
        logits: Tensor = student(draw(self._bench.unlabeled(batch.unlabeled))).logits
        return logits

    def error(self, probs: Tensor, target: Tensor) -> Tensor:
        """Return the weighted squared error."""
        ramp = min(1.0, int(self.step) / self.ramp_steps) if self.ramp_steps else 1.0
        squared = (probs - target).square().sum()
        return self.weight * ramp * squared / self._bench.setup.local.batch_size

    @torch.no_grad()
    def after_step(self, student: Classifier) -> None:
        """Move the teacher towards the student; the first step copies it."""
        keep = min(1 - 1 / (int(self.step) + 1), self.keep)
        mine = self.teacher.state_dict()
        for name, parameter in student.named_parameters():
            mine[name].lerp_(parameter, 1 - keep)
        if self.copy_buffers:
            for name, buffer in student.named_buffers():
                mine[name].copy_(buffer)
        self.step += 1

    def statistics(self) -> dict[str, Tensor]:
        """Report what the labeler's probe measured."""
        return self.labeler.statistics()

    def metrics(self) -> dict[str, float]:
        """Log what the labeler's probe has to say."""
        return self.labeler.metrics()


def sharpened(probs: Tensor, temperature: float) -> Tensor:
    """Raise probabilities to the power 1 / temperature and renormalize them."""
    raised = probs ** (1 / temperature)
    return raised / raised.sum(1, keepdim=True)
