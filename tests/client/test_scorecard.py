"""A test in full: numbers with what they rest on."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from fedsemi.client.evaluate import metrics
from fedsemi.client.scorecard import scorecard, scores_of

NAMES = ("nevus", "melanoma", "wart")


def made(num: int, num_classes: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    labels = rng.integers(num_classes, size=num)
    logits = rng.normal(size=(num, num_classes)) * 1.5
    logits[np.arange(num), labels] += 1.5
    probs = np.exp(logits)
    return probs / probs.sum(axis=1, keepdims=True), labels


def test_values_are_those_of_the_test_in_each_round() -> None:
    probs, labels = made(200, 3)
    found = scorecard(probs, labels, NAMES)
    known = metrics(torch.from_numpy(probs), torch.from_numpy(labels), 3)
    assert found.scores.accuracy.value == pytest.approx(known.accuracy)
    assert found.scores.balanced_accuracy.value == pytest.approx(
        known.balanced_accuracy
    )
    assert found.scores.auc.value == pytest.approx(known.auc)
    recalls = [each.recall.value for each in found.classes]
    assert recalls == pytest.approx(list(known.per_class_recall))


def test_a_number_says_on_how_many_images_and_classes_it_rests() -> None:
    probs, labels = made(60, 3)
    found = scorecard(probs, np.where(labels == 2, 0, labels), NAMES)
    assert found.scores.num == 60
    assert found.scores.missing == ("wart",)
    wart = found.classes[2]
    assert (wart.name, wart.num, wart.recall, wart.auc) == ("wart", 0, None, None)


def test_a_test_of_one_class_has_no_area() -> None:
    probs, _ = made(20, 3)
    found = scorecard(probs, np.zeros(20, dtype=np.int64), NAMES)
    assert found.scores.auc is None
    assert found.scores.missing == ("melanoma", "wart")
    assert found.classes[0].recall is not None and found.classes[0].thresholds == ()


def test_intervals_hold_their_values_and_shrink_with_more_images() -> None:
    widths = []
    for num in (50, 800):
        found = scores_of(*made(num, 3), NAMES)
        for each in (found.accuracy, found.balanced_accuracy, found.auc):
            assert 0 <= each.low <= each.value <= each.high <= 1
        widths.append(found.auc.high - found.auc.low)
    assert widths[1] < widths[0] / 2.5, "four times narrower, give or take"


def test_a_model_that_says_one_class_only_is_not_certain_of_its_mean() -> None:
    labels = np.repeat([0, 1, 2], 8)
    probs = np.tile([0.8, 0.1, 0.1], (24, 1))
    found = scores_of(probs, labels, NAMES).balanced_accuracy
    assert found.value == pytest.approx(1 / 3)
    assert found.high - found.low > 0.1, "no draw differs, and yet 24 images are few"


def test_few_patients_are_less_certain_than_as_many_images() -> None:
    probs, labels = made(40, 3)
    many = np.repeat(np.arange(40), 5)
    probs, labels = probs[many], labels[many]
    alone = scores_of(probs, labels, NAMES)
    patients = scores_of(probs, labels, NAMES, groups=many)
    assert patients.num_patients == 40 and alone.num_patients is None
    width = [each.auc.high - each.auc.low for each in (patients, alone)]
    assert width[0] > 1.7 * width[1], "five equal images say no more than one"


def test_areas_are_inside_their_intervals_as_often_as_promised() -> None:
    truth = 0.5 * (1 + math.erf(0.5))  # two normal curves, one deviation apart
    rng = np.random.default_rng(0)
    inside = 0
    for trial in range(120):
        labels = np.arange(70) % 2
        logit = rng.normal(size=70) + labels
        second = 1 / (1 + np.exp(-logit))
        probs = np.stack([1 - second, second], axis=1)
        area = scores_of(probs, labels, ("a", "b"), seed=trial).auc
        inside += area.low <= truth <= area.high
    assert 106 <= inside <= 120, "114 of 120 expected"


def test_the_same_test_gives_the_same_numbers() -> None:
    probs, labels = made(50, 3)
    assert scorecard(probs, labels, NAMES) == scorecard(probs, labels, NAMES)
