"""What labeled sites find on held-out images adds up and survives the journey."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from fedsemi.client.evaluate import metrics, predict
from fedsemi.client.findings import (
    Validator,
    held_out_accuracy,
    named,
    possible,
    reported,
    sizes_of,
    validation_of,
    with_findings,
)
from fedsemi.data.augment import Views
from fedsemi.data.dataset import ImageSet
from fedsemi.messages import Findings, Task, Update
from fedsemi.models import ModelSpec
from fedsemi.objectives.calibration import EDGES
from fedsemi.objectives.workbench import Setup

SETUP = Setup(ModelSpec("resnet8", 3, 1, 4, 8), Views(8, 10, (0.5,), (0.25,)))
WEIGHTS = SETUP.model.build(0).state_dict()
NONE = (0.0,) * (len(EDGES) - 2)


def validator(rows: slice = slice(None)) -> Validator:
    generator = torch.Generator().manual_seed(0)
    images = torch.randint(256, (30, 1, 8, 8), dtype=torch.uint8, generator=generator)
    labels = torch.arange(30) % 2  # nobody has the third class
    return Validator(ImageSet(images[rows], labels[rows]), SETUP)


def counted(right: float = 3.0) -> Findings:
    """Four images of two classes, all in the last two bins of confidence."""
    return Findings(
        loss=(2.0,),
        class_count=(3.0, 1.0, 0.0),
        class_right=(right, 0.0, 0.0),
        bin_count=(*NONE, 1.0, 3.0),
        bin_right=(*NONE, 0.0, 3.0),
        bin_gap=(*NONE, -1.0, 0.5),
    )


def update(client: int, found: Findings) -> Update:
    return Update(client, 0, {}, 4, 0, findings=found)


def test_the_numbers_are_worked_out_by_hand() -> None:
    found = validation_of(counted())
    assert (found.num, found.accuracy, found.loss) == (4, 0.75, 0.5)
    assert found.per_class_recall == (1.0, 0.0, None)
    assert found.calibration_error == pytest.approx(1.5 / 4)
    assert found.calibration.right[-2:] == (0, 3)


def test_a_validator_agrees_with_the_metrics_of_the_same_predictions() -> None:
    judge = validator()
    found = judge.validate(WEIGHTS)
    model, held_out = SETUP.load(WEIGHTS), judge.held_out
    same = metrics(predict(model, held_out.images, SETUP.views), held_out.labels, 3)
    assert found.accuracy == pytest.approx(same.accuracy)
    assert found.per_class_recall == pytest.approx(same.per_class_recall)


def test_what_a_validator_counts_is_possible_for_its_classes_alone() -> None:
    found = validator().findings(WEIGHTS, seed=1)
    assert {k: len(v) for k, v in found.by_name().items()} == sizes_of(3)
    assert possible(found, 3)
    assert not possible(found, 4)
    assert not possible(replace(found, loss=()), 3)


def test_the_log_names_what_is_not_zero_by_field_and_place() -> None:
    assert named(None) == {}
    last = len(EDGES) - 1
    assert named(counted()) == {
        "held_out_loss_0": 2.0,
        "held_out_class_count_0": 3.0,
        "held_out_class_count_1": 1.0,
        "held_out_class_right_0": 3.0,
        f"held_out_bin_count_{last - 1}": 1.0,
        f"held_out_bin_count_{last}": 3.0,
        f"held_out_bin_right_{last}": 3.0,
        f"held_out_bin_gap_{last - 1}": -1.0,
        f"held_out_bin_gap_{last}": 0.5,
    }


def test_two_sites_together_find_what_one_with_all_images_would() -> None:
    parts = [validator(slice(0, 10)), validator(slice(10, None))]
    found = [part.findings(WEIGHTS) for part in parts]
    both = reported([update(0, found[0]), update(5, found[1])], 3)
    whole = validation_of(validator().findings(WEIGHTS))
    assert both is not None
    assert both.num == 30
    assert both.accuracy == pytest.approx(whole.accuracy)
    assert both.loss == pytest.approx(whole.loss, rel=1e-5)
    assert both.per_class_recall == pytest.approx(whole.per_class_recall)
    assert both.calibration_error == pytest.approx(whole.calibration_error, rel=1e-5)


def test_what_a_method_puts_beside_the_classifier_is_no_part_of_the_finding() -> None:
    beside = {"projector.weight": torch.ones(2, 2)}
    tasks = [Task(0, 0, WEIGHTS), Task(0, 0, {**WEIGHTS, **beside})]
    held_out = validator().held_out
    answers = [
        with_findings(Update(0, 0, task.weights, 4, 0), held_out, SETUP, task)
        for task in tasks
    ]
    assert answers[0].findings == answers[1].findings is not None


def test_a_site_that_is_asked_twice_counts_once() -> None:
    answers = [update(1, counted()), replace(update(1, counted()), group=1)]
    found = reported(answers, 3)
    assert found is not None and found.num == 4


@pytest.mark.parametrize(
    ("name", "place", "value"),
    [
        ("class_right", 0, 4.0),
        ("class_right", 0, -1.0),
        ("class_count", 1, float("nan")),
        ("class_count", 1, float("inf")),
        ("bin_right", 13, 5.0),
        ("bin_gap", 0, 99.0),
        ("class_right", 0, 0.5),
        ("loss", 0, float("inf")),
        ("loss", 0, 4 * 29.0),  # four images, each of them as wrong as can be
    ],
)
def test_numbers_that_cannot_be_true_are_left_out(
    name: str, place: int, value: float
) -> None:
    numbers = list(counted().by_name()[name])
    numbers[place] = value
    liar = update(1, replace(counted(), **{name: tuple(numbers)}))
    assert reported([liar], 3) is None
    found = reported([update(0, counted()), liar], 3)
    assert found == validation_of(counted())


def test_a_site_without_labels_has_no_say_on_a_model() -> None:
    found = counted()
    assert reported([Update(1, 0, {}, 0, 9, findings=found)], 3) is None
    assert held_out_accuracy([Update(1, 0, {}, 0, 9, findings=found)], 3) is None
    assert reported([Update(1, 0, {}, 4, 9, findings=found)], 3) is not None


def test_nothing_is_reported_where_nothing_is_held_out() -> None:
    assert reported([Update(0, 0, {}, 4, 0, metrics={"loss": 1.0})], 3) is None
