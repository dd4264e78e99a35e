"""What keeps a client near the model that it was sent.

Li et al., Federated Optimization in Heterogeneous Networks, MLSys 2020 (FedProx).
"""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor, nn


def distance(student: nn.Module, start: Mapping[str, Tensor]) -> Tensor:
    """Return Σ ‖w − w₀‖² over the parameters that learn; FedProx takes half of it.

    >>> layer = nn.Linear(2, 1)
    >>> start = {name: value.detach() + 2 for name, value in layer.named_parameters()}
    >>> round(distance(layer, start).item(), 4)  # two weights and a bias, 2² each
    12.0
    """
    moved = [
        (parameter - start[name]).square().sum()
        for name, parameter in student.named_parameters()
        if parameter.requires_grad
    ]
    return torch.stack(moved).sum()
