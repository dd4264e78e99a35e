"""The checks on one reply: its shape, its numbers, its claims.

They trust nothing but the server's own task and register. What fails is refused as a
whole; a sample count above the registered one is cut to it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import torch
from torch import Tensor

from fedsemi.errors import FedSemiError
from fedsemi.flat import Flat, Layout, Part
from fedsemi.messages import ClientInfo, Findings, Task, Update, is_number
from fedsemi.method import Statistic
from fedsemi.text.printable import printable

_TOLERANCE = 1e-3
_VARIANCE = "running_var"
_MOST_STEPS = 2**31


class Refused(Exception):
    """A reply cannot be used; the gate turns it into a Rejection."""

    def __init__(self, code: str, reason: str) -> None:
        super().__init__(reason)
        self.code = code
        self.reason = printable(reason)  # it may quote what a site has sent


@dataclass(frozen=True)
class Reply:
    """A reply that passed, with the task it answers and the length of its step."""

    update: Update
    task: Task
    info: ClientInfo
    norm: float
    inflated: bool
    """Whether a count exceeded the register and was cut."""


def checked(
    update: Update,
    task: Task,
    info: ClientInfo,
    needed: Mapping[str, Statistic],
    with_model: bool = True,
) -> Reply:
    """Check one reply against the task that it answers; under masks it has no model.

    Raises:
        Refused: Something does not fit.
    """
    if type(update.round) is not int or update.round != task.round:
        raise Refused("FS2106", f"is for round {update.round!r}")
    try:
        norm = step_length(update.weights, task.weights if with_model else {})
        if not with_model and not update.statistics:
            raise Refused("FS2101", "has no part of the masked sum")
        statistics = _checked_statistics(update.statistics, needed, info)
        counts = _checked_counts(update, info)
        if not with_model:  # it says nothing of its images; the register does
            known = (info.num_labeled, info.num_unlabeled, 0)
            counts = dict(zip(counts, known, strict=True))
        _check_claims(statistics, needed, counts["num_pseudo"], info)
        metrics = _finite_metrics(update.metrics)
        findings = _finite_findings(update.findings)
    except Refused:
        raise
    except FedSemiError as error:
        raise Refused("FS2105", str(error.args[0])) from error
    except Exception as error:  # the content is a stranger's: anything may happen
        raise Refused("FS2105", f"cannot be read: {type(error).__name__}") from error
    inflated = any(getattr(update, name) > count for name, count in counts.items())
    clean = replace(
        update,
        statistics=statistics,
        metrics=metrics,
        findings=findings,
        num_labeled=counts["num_labeled"],
        num_unlabeled=counts["num_unlabeled"],
        num_pseudo=counts["num_pseudo"],
    )
    return Reply(clean, task, info, norm, inflated)


def step_length(weights: Any, reference: Mapping[str, Tensor]) -> float:
    """Check the weights and return how far they are from the reference."""
    if not isinstance(weights, Mapping) or weights.keys() != reference.keys():
        raise Refused("FS2101", _key_difference(weights, reference))
    start = Flat.of(reference)
    steps = _steps(weights, start)
    if steps is None:  # one entry is not sound: which, and what is wrong with it?
        steps = [_entry_step(key, weights[key], old) for key, old in reference.items()]
    squares = sum(step**2 for step in steps)
    if not math.isfinite(squares):
        raise Refused("FS2103", "is too far away to measure")
    return math.sqrt(squares)


def _steps(weights: Mapping[str, Any], start: Flat) -> list[float] | None:
    """Measure the step of each entry, all of them at once; None if one is not sound."""
    alike = isinstance(weights, Flat) and weights.layout == start.layout
    if not alike and any(_misfit(key, weights[key], old) for key, old in start.items()):
        return None
    steps: dict[str, float] = {}
    before, after = start.parts(), start.like(weights).parts()
    for dtype, part in start.layout.parts.items():
        old, new = before[dtype], after[dtype]
        if dtype.is_floating_point:
            steps |= zip(part.names, _norms(new, old, part), strict=True)
            if (new[_variances(start.layout, dtype)] < 0).any():
                return None
        elif (new < 0).any() or (new.long() > old.long() + _MOST_STEPS).any():
            return None
    found = [steps[key] for key in start if key in steps]
    return found if all(map(math.isfinite, found)) else None


def _norms(new: Tensor, old: Tensor, part: Part) -> list[float]:
    """Return the length of the step of each entry."""
    norms: list[Tensor] = []
    for begin, sizes in part.groups:
        here = slice(begin, begin + sum(sizes))
        for step in torch.split(new[here] - old[here], sizes):
            norms.append(torch.linalg.vector_norm(step, dtype=torch.double))
    return torch.stack(norms).tolist()


@lru_cache(maxsize=16)
def _variances(layout: Layout, dtype: torch.dtype) -> Tensor:
    """Tell which of the numbers of a type are variances of batch norms."""
    part = layout.parts[dtype]
    named = zip(part.names, part.sizes, strict=True)
    flags = [torch.full((size,), name.endswith(_VARIANCE)) for name, size in named]
    return torch.cat(flags).nonzero().flatten()


def _entry_step(key: str, new: Any, old: Tensor) -> float:
    """Check one entry and measure its step; counters have none."""
    if problem := _misfit(key, new, old):
        raise Refused("FS2102", problem)
    if not old.is_floating_point():
        if new.numel() and not 0 <= new.min() <= new.max() <= old.max() + _MOST_STEPS:
            raise Refused("FS2104", f"has an impossible counter '{key}'")
        return 0.0
    step = float(torch.linalg.vector_norm(new.detach() - old, dtype=torch.double))
    if not math.isfinite(step):
        bad = int((~torch.isfinite(new)).sum())
        found = f"{bad} non-finite values" if bad else "values too large"
        raise Refused("FS2103", f"has {found} in '{key}'")
    if key.endswith(_VARIANCE) and (new < 0).any():
        raise Refused("FS2103", f"has a negative variance in '{key}'")
    return step


def _misfit(key: str, new: Any, old: Tensor) -> str | None:
    """Say what is wrong with the kind of an entry, if anything is."""
    if not isinstance(new, Tensor) or new.layout != torch.strided or new.is_meta:
        return f"has no dense tensor at '{key}'"
    if new.shape != old.shape or new.dtype != old.dtype:
        return (
            f"has {new.dtype} {list(new.shape)} at '{key}', not {old.dtype} "
            f"{list(old.shape)}"
        )
    return None


def _key_difference(weights: Any, reference: Mapping[str, Tensor]) -> str:
    if not isinstance(weights, Mapping):
        return "has no weights"
    missing = sorted(reference.keys() - weights.keys())
    if missing:
        return f"lacks {len(missing)} entries, '{missing[0]}' among them"
    extra = sorted(str(key) for key in weights.keys() - reference.keys())
    return f"has {len(extra)} unknown entries, '{extra[0][:60]}' among them"


def _checked_statistics(
    statistics: Mapping[str, Tensor], needed: Mapping[str, Statistic], info: ClientInfo
) -> Mapping[str, Tensor]:
    for name in sorted(needed.keys() - statistics.keys()):
        if needed[name].due_from(info):
            raise Refused("FS2101", f"lacks the statistic '{name}'")
    # Whoever reads a statistic by its name relies on what was checked here.
    for name in sorted(map(str, statistics.keys() - needed.keys())):
        raise Refused("FS2101", f"has the unknown statistic '{name[:60]}'")
    return {
        name: _checked_statistic(name, value, needed[name], info)
        for name, value in statistics.items()
    }


def _checked_statistic(
    name: str, value: Any, spec: Statistic, info: ClientInfo
) -> Tensor:
    if not isinstance(value, Tensor) or value.is_complex():
        raise Refused("FS2102", f"has no numbers for '{name}'")
    if spec.dtype is not None:
        return _checked_part(name, value, spec)
    if not torch.isfinite(value).all():
        raise Refused("FS2103", f"has non-finite values in '{name}'")
    if value.shape != (spec.size,) or not value.is_floating_point():
        raise Refused("FS2102", f"has {value.dtype} {list(value.shape)} for '{name}'")
    low, high = float(value.min()), float(value.max())
    if low < spec.low - _TOLERANCE or high > spec.high + _TOLERANCE:
        raise Refused(
            "FS2103",
            f"claims a {name} of {low if low < spec.low else high:.3g}, outside "
            f"{spec.low:g} to {spec.high:g}",
        )
    most = info.num_labeled + info.num_unlabeled
    if spec.counts and (total := float(value.double().sum())) > most:
        raise Refused("FS2104", f"counts {total:g} samples in '{name}', has {most}")
    return value.clamp(spec.low, spec.high)  # rounding, below the tolerance


def _checked_part(name: str, value: Tensor, spec: Statistic) -> Tensor:
    """Check what belongs to a masked sum; what it says is seen in the sum alone."""
    fits = value.dim() == 1 and 0 < len(value) <= spec.size
    if not fits or value.dtype != spec.dtype or value.layout != torch.strided:
        raise Refused("FS2102", f"has {value.dtype} {list(value.shape)} for '{name}'")
    if spec.reads is not None:
        spec.reads(value)
    return value


def _checked_counts(update: Update, info: ClientInfo) -> dict[str, int]:
    """Refuse what is no count; cut what exceeds the register."""
    limits = {
        "num_labeled": info.num_labeled,
        "num_unlabeled": info.num_unlabeled,
        "num_pseudo": info.num_unlabeled,
    }
    counts = {name: getattr(update, name) for name in limits}
    for name, count in counts.items():
        if type(count) is not int or count < 0:
            raise Refused("FS2104", f"claims {name} = {count!r:.40}")
    return {name: min(counts[name], limit) for name, limit in limits.items()}


def _check_claims(
    statistics: Mapping[str, Tensor],
    needed: Mapping[str, Statistic],
    num_pseudo: int,
    info: ClientInfo,
) -> None:
    """Refuse what more classes claim than there are pseudo-labels.

    A client with labels may go through its unlabeled images several times a round, so
    that one of them has had two classes.
    """
    for name, spec in needed.items():
        if not spec.of_pseudo_labels or info.num_labeled or name not in statistics:
            continue
        if (classes := int((statistics[name] > 0).sum())) > num_pseudo:
            raise Refused(
                "FS2104",
                f"claims a {name} in {classes} classes with {num_pseudo} pseudo-labels",
            )


def _finite_metrics(metrics: Mapping[str, float]) -> dict[str, float]:
    """Keep what a log can hold; no aggregation reads it."""
    return {
        name: float(value)
        for name, value in metrics.items()
        if isinstance(name, str) and is_number(value)
    }


def _finite_findings(findings: Findings | None) -> Findings | None:
    """Keep findings that are numbers; if they can be true, their readers ask."""
    if not isinstance(findings, Findings):
        return None
    numbers = [n for several in findings.by_name().values() for n in several]
    return findings if all(map(is_number, numbers)) else None
