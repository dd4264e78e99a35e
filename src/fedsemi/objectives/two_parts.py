"""Arithmetic on weights in two parts, θ = σ + ψ, of which θ and ψ travel.

Jeong, Yoon, Yang, Hwang, Federated Semi-Supervised Learning with Inter-Client
Consistency and Disjoint Learning, ICLR 2021 (FedMatch).
"""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor, nn

from fedsemi.messages import Weights
from fedsemi.models import Classifier

PSI = "psi"
_PSI = f"{PSI}."


def psi_of(part: float, model: Classifier) -> Mapping[str, nn.Module]:
    """Make ψ: this part of every weight that learns, under the same names."""
    return {PSI: _scaled(model, part)}


def apart(weights: Weights) -> Weights:
    """Take ψ out of θ: what is left in its place is σ.

    >>> told = {"a": torch.tensor(3.0), "psi.a": torch.tensor(1.0)}
    >>> {name: float(value) for name, value in apart(told).items()}
    {'a': 2.0, 'psi.a': 1.0}
    """
    return {
        name: value if (psi := weights.get(_PSI + name)) is None else value - psi
        for name, value in weights.items()
    }


def joined(weights: Weights) -> Weights:
    """Put ψ back to σ."""
    return {
        name: value if (psi := weights.get(_PSI + name)) is None else value + psi
        for name, value in weights.items()
    }


def flat_psi(weights: Weights) -> Tensor:
    """Lay all numbers of ψ out in the order of their names, [P]."""
    return torch.cat([weights[name].flatten() for name in _psi_names(weights)])


def with_psi(weights: Weights, flat: Tensor) -> Weights:
    """Return the model of this σ with another ψ, [P].

    >>> told = {"a": torch.tensor([2.0]), "n": torch.tensor(7), "psi.a": torch.ones(1)}
    >>> {name: value.tolist() for name, value in with_psi(told, torch.ones(1)).items()}
    {'a': [3.0], 'n': 7}
    """
    names = _psi_names(weights)
    pieces = torch.split(flat, [weights[name].numel() for name in names])
    other = {k: v.view_as(weights[k]) for k, v in zip(names, pieces, strict=True)}
    whole = joined({**weights, **other})
    return {name: value for name, value in whole.items() if name not in other}


def pairs_of(student: Classifier) -> dict[str, tuple[Tensor, Tensor]]:
    """Return σ and ψ of each weight that learns, by its name."""
    known = dict(student.named_parameters())
    return {
        name.removeprefix(_PSI): (known[name.removeprefix(_PSI)], psi)
        for name, psi in known.items()
        if name.startswith(_PSI)
    }


def _psi_names(weights: Weights) -> list[str]:
    return sorted(name for name in weights if name.startswith(_PSI))


def _scaled(module: nn.Module, part: float) -> nn.Module:
    """Copy the weights of a module that learn, and nothing else, each times a part."""
    twin = nn.Module()
    for name, value in module.named_parameters(recurse=False):
        if value.requires_grad:
            twin.register_parameter(name, nn.Parameter(part * value.detach()))
    for name, inner in module.named_children():
        copy = _scaled(inner, part)
        if list(copy.parameters()):
            twin.add_module(name, copy)
    return twin
