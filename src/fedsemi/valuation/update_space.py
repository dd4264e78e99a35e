"""Where in the update space weighting acts: in which layers and classes, which way.

A round steps from the model to the mean of its updates. Shares move that step away from
the one that equal shares would have made; the difference of both is looked at here.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from fedsemi.messages import Update, Weights

_HEAD = "head"
_NOTHING = 1e-12
"""Length below which a difference of means is rounding."""


@dataclass(frozen=True)
class Place:
    """The difference that shares made in one round, or in the mean of several."""

    moved: Mapping[str, float]
    """Its length in lengths of the equal step, in each group of layers."""
    part: Mapping[str, float]
    """Part of its squared length that lies in each group; they sum to one."""
    classes: tuple[float, ...]
    """Part of its squared length within the head that lies in each class's row."""
    whole: float
    """Its length in lengths of the equal step, over all layers."""
    step_cosine: float
    """Between the step with the method's shares and the one with equal shares."""
    labeled_cosine: float | None
    """To the step of those with labels; None if nobody or everybody has some."""

    @property
    def most(self) -> str:
        """The group of layers with the largest part."""
        return max(self.part, key=lambda group: self.part[group])


def place_of(
    before: Weights,
    updates: Sequence[Update],
    shares: Sequence[float],
    equal: Sequence[float],
    parameters: frozenset[str],
) -> Place | None:
    """Hold the step with these shares against the step with equal ones.

    Args:
        before: The model that the round began with.
        updates: One of each client that counts.
        shares: What the method gave them.
        equal: What they would have if clients of a kind counted alike.
        parameters: What is looked at; batch-norm statistics are no steps.

    Returns:
        None where the shares are equal ones, so that there is no difference.
    """
    names = [name for name in before if name in parameters]
    plain = {name: _mean(name, before, updates, equal) for name in names}
    own = {name: _mean(name, before, updates, shares) for name in names}
    away = {name: own[name] - plain[name] for name in names}
    if _length(away) < _NOTHING * max(_length(plain), _NOTHING):
        return None
    groups = dict.fromkeys(group_of(name) for name in names)
    of = {g: {n: away[n] for n in names if group_of(n) == g} for g in groups}
    base = {g: {n: plain[n] for n in names if group_of(n) == g} for g in groups}
    total = _length(away) ** 2
    return Place(
        moved={g: _length(of[g]) / max(_length(base[g]), _NOTHING) for g in groups},
        part={g: _length(of[g]) ** 2 / total for g in groups},
        classes=_by_class(of.get(_HEAD, {})),
        whole=_length(away) / max(_length(plain), _NOTHING),
        step_cosine=_cosine(own, plain),
        labeled_cosine=_towards_labels(away, before, updates),
    )


def mean_of(places: Sequence[Place]) -> Place | None:
    """Return the mean over rounds; None if no round has a difference."""
    if not places:
        return None
    labeled = [p.labeled_cosine for p in places if p.labeled_cosine is not None]
    groups, count = places[0].part, len(places)
    return Place(
        {g: sum(p.moved[g] for p in places) / count for g in groups},
        {g: sum(p.part[g] for p in places) / count for g in groups},
        tuple(sum(of) / count for of in zip(*(p.classes for p in places), strict=True)),
        sum(p.whole for p in places) / count,
        sum(p.step_cosine for p in places) / count,
        sum(labeled) / len(labeled) if labeled else None,
    )


def group_of(name: str) -> str:
    """Name the layers that a tensor belongs to.

    >>> [group_of(n) for n in ("encoder.stages.2.0.residual.0.weight", "head.bias")]
    ['stage 3', 'head']
    >>> group_of("encoder.conv1.weight")
    'conv1'
    """
    first, *rest = name.split(".")
    if first == _HEAD or not rest:
        return first
    if rest[0] == "stages" and len(rest) > 1:
        return f"stage {int(rest[1]) + 1}"
    return rest[0]


def _mean(
    name: str, before: Weights, updates: Sequence[Update], shares: Sequence[float]
) -> Tensor:
    """Return the step of a tensor with these shares, in double precision."""
    step = torch.zeros_like(before[name], dtype=torch.float64)
    for update, share in zip(updates, shares, strict=True):
        step += share * (update.weights[name].double() - before[name].double())
    return step


def _towards_labels(
    away: Weights, before: Weights, updates: Sequence[Update]
) -> float | None:
    labeled = [update for update in updates if update.num_labeled]
    if not labeled or len(labeled) == len(updates):
        return None
    alike = [1 / len(labeled)] * len(labeled)
    return _cosine(away, {name: _mean(name, before, labeled, alike) for name in away})


def _by_class(head: Weights) -> tuple[float, ...]:
    """Return the part of each class: its row of weights, and its bias."""
    rows = [
        tensor.flatten(1) if tensor.dim() > 1 else tensor[:, None]
        for tensor in head.values()
    ]
    if not rows:
        return ()
    squares = torch.cat(rows, dim=1).square().sum(1)
    return tuple((squares / squares.sum().clamp_min(_NOTHING**2)).tolist())


def _length(tensors: Weights) -> float:
    return math.sqrt(sum(float(each.square().sum()) for each in tensors.values()))


def _cosine(a: Weights, b: Weights) -> float:
    inner = sum(float((a[name] * b[name]).sum()) for name in a)
    return float(inner / max(_length(a) * _length(b), _NOTHING**2))
