"""What a run keeps for its report."""

from __future__ import annotations

import torch

from fedsemi.report.analysis import subgroup_recall


def test_each_subgroup_is_measured_apart() -> None:
    probs = torch.eye(2)[[0, 0, 1, 1]]
    labels = torch.tensor([0, 1, 1, 1])
    women, men = subgroup_recall(probs, labels, ("f", "f", "m", "m"))
    assert (women["group"], women["num"], women["accuracy"]) == ("f", 2, 0.5)
    assert women["recall"] == (1.0, 0.0)
    assert men["recall"] == (None, 1.0)
    assert men["balanced_accuracy"] == 1.0
