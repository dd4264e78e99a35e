"""The pull towards the model that was received, worked by hand."""

from __future__ import annotations

import torch
from torch import nn

from fedsemi.objectives.proximal import distance


def test_the_distance_counts_every_parameter_that_learns_and_no_other() -> None:
    model = nn.Sequential(nn.Linear(2, 1), nn.Linear(1, 1))
    start = {name: p.detach() - 3 for name, p in model.named_parameters()}
    # Three numbers of the first layer and two of the second, 3² each.
    torch.testing.assert_close(distance(model, start), torch.tensor(45.0))
    model[1].requires_grad_(False)
    torch.testing.assert_close(distance(model, start), torch.tensor(27.0))


def test_it_pulls_back_by_twice_the_way_gone() -> None:
    model = nn.Linear(1, 1, bias=False)
    start = {"weight": model.weight.detach() - 0.5}
    distance(model, start).backward()  # type: ignore[no-untyped-call]
    assert model.weight.grad is not None
    torch.testing.assert_close(model.weight.grad, torch.tensor([[1.0]]))
