"""What sites send, laid out for attackers: one row for each site."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from fedsemi.errors import ConfigError
from fedsemi.leakage.scene import Site
from fedsemi.leakage.scores import Flags, Rows, Table
from fedsemi.messages import Task, Update, Weights
from fedsemi.method import Method
from fedsemi.seeds import seed_of

Single = npt.NDArray[np.float32]

MODEL, COUNTS, METRICS = "model", "counts", "metrics"
STATISTIC = "statistics."
MOST_BYTES = 2 * 2**30
"""Of the models of all sites together."""


@dataclass(frozen=True)
class Layout:
    """Where the float tensors of a model lie in one long row."""

    names: tuple[str, ...]
    shapes: tuple[tuple[int, ...], ...]

    @staticmethod
    def of(weights: Weights) -> Layout:
        """Describe a model; counters of whole numbers are left out."""
        kept = {k: v for k, v in weights.items() if v.is_floating_point()}
        return Layout(tuple(kept), tuple(tuple(v.shape) for v in kept.values()))

    @property
    def sizes(self) -> list[int]:
        """Numbers in each tensor."""
        return [int(np.prod(shape)) for shape in self.shapes]

    def row(self, weights: Weights) -> Single:
        """Write a model as one row."""
        parts = [weights[name].flatten().float() for name in self.names]
        row: Single = torch.cat(parts).numpy()
        return row

    def places(self, start: str, holds: str = "") -> npt.NDArray[np.int64]:
        """Return where the tensors of such names lie."""
        ends = np.cumsum(self.sizes)
        found = [
            np.arange(end - size, end)
            for name, size, end in zip(self.names, self.sizes, ends, strict=True)
            if name.startswith(start) and holds in name
        ]
        return np.concatenate(found) if found else np.empty(0, dtype=np.int64)

    def moved(self, before: Weights, step: Single) -> dict[str, torch.Tensor]:
        """Return the model that lies a step away; variances stay above zero."""
        parts = torch.split(torch.from_numpy(step), self.sizes)
        moved = dict(before)
        for name, shape, part in zip(self.names, self.shapes, parts, strict=True):
            value = before[name] + part.view(shape)
            is_variance = name.endswith("running_var")
            moved[name] = value.clamp_min(1e-3) if is_variance else value
        return moved


@dataclass(frozen=True, eq=False)
class Answers:
    """What some sites answered to one task, and the truth about them."""

    sites: Sequence[Site]
    things: Mapping[str, Rows]
    """Rows by what is sent: the change of the model, counts, metrics, statistics."""
    updates: Sequence[Update]
    """The answers themselves, without models."""
    counts: Table
    """Images of each site and class; the oracle's."""

    @property
    def shares(self) -> Table:
        """The class histograms as shares."""
        sums = self.counts.sum(1, keepdims=True)
        shares: Table = self.counts / np.maximum(sums, 1)
        return shares

    @property
    def owns(self) -> Flags:
        """Whether a site has an image of a class."""
        return self.counts > 0


def ask(
    method: Method[Any], task: Task, sites: Sequence[Site], num_classes: int, seed: int
) -> Answers:
    """Let each site answer the task as on its first visit."""
    layout = Layout.of(task.weights)
    before = layout.row(task.weights)
    changes = np.empty((len(sites), len(before)), dtype=np.float32)
    updates = []
    for number, site in enumerate(sites):
        own = replace(task, client=number, seed=seed_of(seed, "leak", "site", number))
        update, _ = method.train(own, replace(site.client, id=number), {})
        changes[number] = layout.row(update.weights) - before
        updates.append(replace(update, weights={}))
    counts = np.array([site.counts(num_classes) for site in sites])
    return Answers(sites, {MODEL: changes, **_beside(updates)}, updates, counts)


def alike(many: Sequence[Answers]) -> list[Answers]:
    """Lay the metrics out in the same columns: some sites send a name, others not."""
    names = {name for each in many for u in each.updates for name in u.metrics}
    return [
        replace(each, things={**each.things, **_metrics(each.updates, names)})
        for each in many
    ]


def _metrics(updates: Sequence[Update], names: Iterable[str]) -> dict[str, Table]:
    rows = [[u.metrics.get(name, 0.0) for name in sorted(names)] for u in updates]
    return {METRICS: np.array(rows, dtype=np.float64)}


def _beside(updates: Sequence[Update]) -> dict[str, Table]:
    """Lay out all but the models; what a site has nothing of is zero."""
    names = {name for update in updates for name in update.metrics}
    found: dict[str, Any] = {
        COUNTS: [[u.num_labeled, u.num_unlabeled, u.num_pseudo] for u in updates],
        **_metrics(updates, names),
    }
    for name in sorted({name for update in updates for name in update.statistics}):
        (size,) = {len(u.statistics[name]) for u in updates if name in u.statistics}
        nothing = torch.zeros(size)
        found[f"{STATISTIC}{name}"] = [
            u.statistics.get(name, nothing).double().tolist() for u in updates
        ]
    return {name: np.array(rows, dtype=np.float64) for name, rows in found.items()}


def check_fits(weights: Weights, sites: int) -> None:
    """Refuse a model so large that the answers of all sites would not fit."""
    size = sum(Layout.of(weights).sizes)
    if 4 * size * sites > MOST_BYTES:
        raise ConfigError(
            f"{sites} models of {size:,} numbers need {4 * size * sites / 2**30:.1f} "
            f"GB, more than {MOST_BYTES / 2**30:.0f}; use a smaller model, e.g. --set "
            "model.width=8, or fewer --sites",
            code="FS6302",
        )
