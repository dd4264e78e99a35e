"""The mean teacher: what it targets, how it follows, what it remembers."""

from __future__ import annotations

import copy

import pytest
import torch
from torch.testing import assert_close

from fedsemi.client.networks import frozen
from fedsemi.data.augment import Views
from fedsemi.data.client import Batch, Client
from fedsemi.models import Classifier, ModelSpec
from fedsemi.objectives.labeler import Labeler
from fedsemi.objectives.mean_teacher import MeanTeacher, sharpened
from fedsemi.objectives.workbench import Setup, Workbench
from fedsemi.seeds import Streams

SETUP = Setup(
    ModelSpec("resnet8", 3, width=2, image_size=8), Views(8, 10, (0.5,) * 3, (0.2,) * 3)
)


def _bench(num_unlabeled: int = 6) -> Workbench:
    images = torch.randint(
        256,
        (num_unlabeled, 3, 8, 8),
        dtype=torch.uint8,
        generator=torch.Generator().manual_seed(0),
    )
    client = Client(0, images[:0], torch.empty(0, dtype=torch.long), images)
    return Workbench(client, SETUP, Streams(3))


def _moved(model: Classifier, by: float) -> Classifier:
    moved = copy.deepcopy(model)
    with torch.no_grad():
        for value in moved.state_dict().values():
            value += by if value.is_floating_point() else 5
    return moved


def _teacher(**settings: object) -> tuple[MeanTeacher, Classifier]:
    bench = _bench()
    received = frozen(SETUP.model.build(1))
    objective = MeanTeacher(bench, Labeler(bench), **settings)  # type: ignore[arg-type]
    objective.start_epoch(received)
    return objective, received


def test_sharpening_squares_and_renormalizes() -> None:
    # (.6², .3², .1²) = (.36, .09, .01), their sum .46
    target = sharpened(torch.tensor([[0.6, 0.3, 0.1]]), 0.5)
    assert_close(target, torch.tensor([[36 / 46, 9 / 46, 1 / 46]]))


def test_temperature_one_leaves_probabilities_alone() -> None:
    probs = torch.tensor([[0.6, 0.3, 0.1]])
    assert_close(sharpened(probs, 1.0), probs)


def test_error_is_summed_over_classes_and_divided_by_the_nominal_batch() -> None:
    objective, _ = _teacher(weight=0.02)
    probs, target = torch.tensor([[0.5, 0.5, 0.0]]), torch.tensor([[1.0, 0.0, 0.0]])
    # .02 · (.25 + .25) / 64, though there is one sample
    assert float(objective.error(probs, target)) == pytest.approx(0.02 * 0.5 / 64)


def test_ramp_grows_with_the_steps_of_the_client() -> None:
    objective, received = _teacher(weight=64.0, ramp_steps=4)
    probs, target = torch.tensor([[0.0, 1.0, 0.0]]), torch.tensor([[1.0, 0.0, 0.0]])
    seen = []
    for _ in range(6):
        seen.append(float(objective.error(probs, target)))
        objective.after_step(received)
    assert seen == pytest.approx([0, 0.5, 1, 1.5, 2, 2])


def test_first_step_copies_the_student_and_the_next_goes_half_way() -> None:
    objective, received = _teacher()
    first, second = _moved(received, 1.0), _moved(received, 3.0)
    objective.after_step(first)
    assert_close(objective.teacher.head.weight.data, first.head.weight.data)
    objective.after_step(second)  # 1 - 1 / 2 is kept
    assert_close(objective.teacher.head.weight.data, received.head.weight.data + 2)


def test_an_old_teacher_keeps_999_parts_of_1000() -> None:
    objective, received = _teacher()
    objective.step.fill_(5000)
    objective.after_step(_moved(received, 1.0))
    assert_close(objective.teacher.head.bias.data, received.head.bias.data + 0.001)


@pytest.mark.parametrize("copied", [True, False])
def test_batch_norm_statistics_follow_unless_the_released_bug_is_asked_for(
    copied: bool,
) -> None:
    objective, received = _teacher(copy_buffers=copied)
    student = _moved(received, 1.0)
    objective.after_step(student)
    expected = student if copied else received
    for name, buffer in objective.teacher.named_buffers():
        assert_close(buffer, dict(expected.named_buffers())[name])


def test_teacher_is_never_brought_back_to_the_received_model() -> None:
    objective, received = _teacher()
    student = _moved(received, 1.0)
    objective.after_step(student)
    objective.start_epoch(_moved(received, 7.0))
    assert_close(objective.teacher.head.bias.data, student.head.bias.data)


def test_gradients_reach_the_student_and_not_the_teacher() -> None:
    objective, received = _teacher()
    student = _moved(received, 0.1).requires_grad_(True).train()
    objective(student, Batch(torch.empty(0).long(), torch.arange(6))).backward()
    grads = [p.grad for p in student.parameters()]
    assert any(g is not None and g.abs().sum() > 0 for g in grads)
    assert all(p.grad is None for p in objective.teacher.parameters())


def test_confident_labels_are_counted_for_the_server() -> None:
    bench = _bench()
    objective = MeanTeacher(bench, Labeler(bench, cutoff=0.0))
    received = SETUP.model.build(1)
    objective.start_epoch(frozen(received))
    objective.look(Batch(torch.empty(0).long(), torch.tensor([0, 4])))
    assert objective.num_pseudo == 2
    assert (objective.labeler.pseudo_label >= 0).tolist() == [
        True,
        False,
        False,
        False,
        True,
        False,
    ]
