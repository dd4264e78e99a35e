"""Classes that nobody has labeled are named before anything is trained."""

from __future__ import annotations

import numpy as np

from fedsemi.data.label_gaps import label_gaps, listed, partition_gaps
from fedsemi.data.partition import ClientIndex, Partition


def test_classes_without_a_label_are_named_and_those_with_few_counted() -> None:
    found = label_gaps([[0] * 4, [0, 2, 2]], ("cat", "dog", "owl"))
    missing, few = found.warnings
    assert missing.startswith(
        "FS3405 nobody has a labeled image of 1 of 3 classes (dog), so the model "
        "cannot learn them; label more"
    )
    assert few.startswith(
        "FS3406 1 of 3 classes have fewer than 5 labeled images (owl: 2); "
    )


def test_a_handful_of_each_class_is_no_warning() -> None:
    assert label_gaps([[0] * 5, [1] * 5], ("cat", "dog")).warnings == []


def test_names_are_spelled_and_the_first_of_many_stand_for_all() -> None:
    names = ("\x1b[31mred", *(str(n) for n in range(13)))
    (line,) = label_gaps([[]], names).warnings
    assert "14 of 14 classes (\\x1b[31mred, 0, 1," in line
    assert ", 10 and 2 more)" in line and "\x1b" not in line
    assert listed(["a", "b"]) == "a, b"


def test_the_truth_about_unlabeled_images_is_not_read() -> None:
    rows = np.array([0, 1, 2, 3, 4]), np.array([5, 6, 7, 8, 9])
    partition = Partition((ClientIndex(*rows),))
    labels = [0] * 5 + [1] * 5
    for truth in ([1] * 5, [0] * 5, [-1] * 5):
        found = partition_gaps(partition, [*labels[:5], *truth], ("cat", "dog"))
        assert found.missing == ("dog",) and found.few == ()
