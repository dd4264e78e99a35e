"""Relation matrices and their divergence, worked by hand."""

from __future__ import annotations

import math

import pytest
import torch
from torch.testing import assert_close

from fedsemi.objectives.relation import relation_loss, relation_matrix


def test_row_is_the_softened_mean_of_a_class() -> None:
    logits = torch.tensor([[0.0, 0.0], [4 * math.log(3), 0.0]])
    matrix = relation_matrix(logits, torch.tensor([0, 0]), 2)
    # mean (2 log 3, 0), halved (log 3, 0): 3 to 1; nobody is of class 1
    assert_close(matrix, torch.tensor([[0.75, 0.25], [0.0, 0.0]]))


def test_loss_is_half_of_both_divergences_over_shared_classes() -> None:
    mine = torch.tensor([[0.75, 0.25], [0.5, 0.5]])
    theirs = torch.tensor([[0.25, 0.75], [0.0, 0.0]])
    # (.5 · log 3 + .5 · log 3) / 2, from the first row alone
    assert float(relation_loss(mine, theirs)) == pytest.approx(math.log(3) / 2)


def test_nothing_shared_costs_nothing() -> None:
    mine = torch.tensor([[0.0, 0.0], [0.5, 0.5]])
    theirs = torch.tensor([[0.5, 0.5], [0.0, 0.0]])
    assert float(relation_loss(mine, theirs)) == 0


def test_no_samples_give_an_empty_matrix() -> None:
    empty = relation_matrix(torch.empty(0, 3), torch.empty(0, dtype=torch.long), 3)
    assert not empty.any()
