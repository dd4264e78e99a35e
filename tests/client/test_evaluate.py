"""Metrics agree with numbers worked by hand and with scikit-learn."""

import dataclasses
import json
import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import (
    accuracy_score,
    balanced_accuracy_score,
    confusion_matrix,
    precision_score,
    recall_score,
    roc_auc_score,
)

from fedsemi.client.evaluate import metrics
from fedsemi.errors import DataError

# --- metrics: worked by hand ---------------------------------------------------------


def test_metrics_worked_by_hand():
    # truth      0   0   1   1   2
    # predicted  0   1   1   1   0      recall 1/2, 1, 0; precision 1/2, 2/3, 0/0 = 0
    probs = torch.tensor(
        [
            [0.6, 0.3, 0.1],
            [0.3, 0.5, 0.2],
            [0.1, 0.7, 0.2],
            [0.2, 0.5, 0.3],
            [0.4, 0.2, 0.4],
        ]
    )
    # class 0: positives .6 .3 against .1 .2 .4: (3 + 2) of 6 pairs
    # class 1: positives .7 .5 against .3 .5 .2: (3 + 2.5) of 6 pairs
    # class 2: positive .4 against .1 .2 .2 .3: 4 of 4 pairs

    result = metrics(probs, torch.tensor([0, 0, 1, 1, 2]), num_classes=3)

    assert result.accuracy == pytest.approx(3 / 5)
    assert result.balanced_accuracy == pytest.approx((1 / 2 + 1 + 0) / 3)
    assert result.recall == pytest.approx((1 / 2 + 1 + 0) / 3)
    assert result.precision == pytest.approx((1 / 2 + 2 / 3 + 0) / 3)
    assert result.per_class_recall == (0.5, 1.0, 0.0)
    assert result.auc == pytest.approx((5 / 6 + 5.5 / 6 + 1) / 3)
    assert result.confusion == ((1, 1, 0), (0, 2, 0), (1, 0, 0))


def test_class_absent_from_truth_but_predicted_lowers_recall_not_balanced_accuracy():
    # truth 0 1 1, predicted 0 1 2
    probs = torch.eye(3)

    result = metrics(probs, torch.tensor([0, 1, 1]), num_classes=3)

    assert result.per_class_recall == (1.0, 0.5, None)
    assert result.balanced_accuracy == pytest.approx((1 + 1 / 2) / 2)
    assert result.recall == pytest.approx((1 + 1 / 2 + 0) / 3)
    assert result.precision == pytest.approx((1 + 1 + 0) / 3)


def test_class_absent_from_truth_is_left_out_of_auc():
    # class 0: .9 against .2 .6: 2 of 2; class 1: .7 .1 against .1: 1.5 of 2
    probs = torch.tensor([[0.9, 0.1, 0.0], [0.2, 0.7, 0.1], [0.6, 0.1, 0.3]])

    result = metrics(probs, torch.tensor([0, 1, 1]), num_classes=3)

    assert result.auc == pytest.approx((1 + 0.75) / 2)


def test_class_in_neither_truth_nor_predictions_changes_no_mean():
    probs = torch.tensor([[0.8, 0.2, 0.0], [0.4, 0.6, 0.0]])
    labels = torch.tensor([0, 1])

    with_it, without = metrics(probs, labels, 3), metrics(probs[:, :2], labels, 2)

    for name in ("accuracy", "balanced_accuracy", "auc", "precision", "recall"):
        assert getattr(with_it, name) == getattr(without, name) == 1.0


def test_truth_of_a_single_class_has_no_auc():
    result = metrics(torch.tensor([[0.7, 0.3], [0.4, 0.6]]), torch.tensor([0, 0]), 2)

    assert result.auc is None
    assert result.accuracy == 0.5
    assert result.balanced_accuracy == 0.5
    assert result.per_class_recall == (0.5, None)


def test_one_sample_is_enough():
    result = metrics(torch.tensor([[0.2, 0.8]]), torch.tensor([1]), num_classes=2)

    assert result.accuracy == result.balanced_accuracy == 1.0
    assert result.precision == result.recall == 1.0
    assert result.auc is None
    assert result.per_class_recall == (None, 1.0)
    assert result.confusion == ((0, 0), (0, 1))


def test_equal_scores_everywhere_give_auc_one_half():
    result = metrics(torch.full((4, 2), 0.5), torch.tensor([0, 0, 0, 1]), 2)

    assert result.auc == 0.5


def test_diverged_model_has_metrics_but_no_auc():
    result = metrics(torch.full((2, 2), math.nan), torch.tensor([0, 1]), 2)

    assert result.auc is None
    assert result.accuracy == 0.5


def test_metrics_are_plain_numbers_that_json_can_write():
    result = metrics(torch.eye(3), torch.tensor([0, 1, 1]), num_classes=3)

    written = json.loads(json.dumps(dataclasses.asdict(result), allow_nan=False))

    assert written["per_class_recall"] == [1.0, 0.5, None]


@pytest.mark.parametrize(
    ("probs", "labels", "message"),
    [
        (torch.zeros(0, 2), torch.zeros(0, dtype=torch.long), "at least one sample"),
        (torch.zeros(2, 3), torch.tensor([0, 1]), r"\[N, 2\].*found \[2, 3\]"),
        (torch.zeros(3, 2), torch.tensor([0, 1]), r"found \[3, 2\] and \[2\]"),
        (torch.zeros(2, 2), torch.tensor([0, 2]), "from 0 to 1, found 0 to 2"),
        (torch.zeros(2, 2), torch.tensor([-1, 0]), "found -1 to 0"),
    ],
)
def test_input_that_does_not_fit_is_refused(probs, labels, message):
    with pytest.raises(DataError, match=message):
        metrics(probs, labels, num_classes=2)


# --- metrics: against scikit-learn ---------------------------------------------------


def random_case(samples: int, classes: int, levels: int, seed: int):
    """Return probabilities with many ties (few levels) and labels with all classes."""
    rng = np.random.default_rng(seed)
    scores = rng.integers(1, levels + 1, (samples, classes)).astype(np.float64)
    labels = np.concatenate(
        [np.arange(classes), rng.integers(0, classes, samples - classes)]
    )
    return scores / scores.sum(axis=1, keepdims=True), labels


@settings(max_examples=50, deadline=None)
@given(
    classes=st.integers(3, 6),
    extra=st.integers(0, 40),
    levels=st.integers(1, 50),
    seed=st.integers(0, 2**32 - 1),
)
def test_metrics_match_scikit_learn_also_with_ties(classes, extra, levels, seed):
    probs, labels = random_case(classes + extra, classes, levels, seed)
    predicted = probs.argmax(axis=1)

    result = metrics(torch.from_numpy(probs), torch.from_numpy(labels), classes)

    auc = roc_auc_score(labels, probs, multi_class="ovr", average="macro")
    macro = {"average": "macro", "zero_division": 0}
    assert result.auc == pytest.approx(auc)
    assert result.accuracy == pytest.approx(accuracy_score(labels, predicted))
    assert result.balanced_accuracy == pytest.approx(
        balanced_accuracy_score(labels, predicted)
    )
    assert result.precision == pytest.approx(
        precision_score(labels, predicted, **macro)
    )
    assert result.recall == pytest.approx(recall_score(labels, predicted, **macro))
    assert np.array_equal(result.confusion, confusion_matrix(labels, predicted))


@settings(max_examples=50, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), absent=st.integers(0, 4))
def test_with_an_absent_class_macro_recall_and_precision_match(seed, absent):
    probs, labels = random_case(20, 5, 9, seed)
    probs, labels = probs[labels != absent], labels[labels != absent]
    predicted = probs.argmax(axis=1)

    result = metrics(torch.from_numpy(probs), torch.from_numpy(labels), 5)

    macro = {"average": "macro", "zero_division": 0}
    areas = [roc_auc_score(labels == c, probs[:, c]) for c in np.unique(labels)]
    assert result.recall == pytest.approx(recall_score(labels, predicted, **macro))
    assert result.precision == pytest.approx(
        precision_score(labels, predicted, **macro)
    )
    assert result.auc == pytest.approx(np.mean(areas))
    assert result.per_class_recall[absent] is None


def test_two_classes_match_the_binary_auc():
    probs, labels = random_case(50, 2, 7, seed=0)

    result = metrics(torch.from_numpy(probs), torch.from_numpy(labels), 2)

    assert result.auc == pytest.approx(roc_auc_score(labels, probs[:, 1]))


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_order_of_samples_does_not_matter(seed):
    probs, labels = random_case(30, 4, 5, seed)
    order = np.random.default_rng(seed).permutation(30)

    straight = metrics(torch.from_numpy(probs), torch.from_numpy(labels), 4)
    shuffled = metrics(
        torch.from_numpy(probs[order]), torch.from_numpy(labels[order]), 4
    )

    assert straight == shuffled
