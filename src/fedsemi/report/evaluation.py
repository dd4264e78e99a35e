"""evaluation.json: what the last model of a run does, in numbers that can be judged.

Counts, curves and intervals only: no image, no probability of a single one. Made when
a run ends, or later by `fedsemi evaluate RUN` for one of an earlier version.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from fedsemi.client.scorecard import Scorecard, scorecard
from fedsemi.client.subgroups import FEWEST, banded, subgroups, tells_kinds
from fedsemi.data.dataset import Dataset, ImageSet
from fedsemi.messages import Weights
from fedsemi.simulation.build import Simulation
from fedsemi.storage import write_whole
from fedsemi.weights import digest

FILE = "evaluation.json"
_MOST_DETAILS = 400
"""Classes of all sites together that are shown with their curves and thresholds."""

Predict = Callable[[Tensor], Tensor]
"""Stored images [N, channels, H, W] to probabilities [N, C]."""


@dataclass(frozen=True, eq=False)
class Outcome:
    """Images with their classes, what a model says of them, and what else is known."""

    probs: NDArray[Any]
    labels: NDArray[np.int64]
    class_names: tuple[str, ...]
    groups: NDArray[np.int64] | None = None
    """The patient of each image, if that is known."""
    columns: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @classmethod
    def of(cls, dataset: Dataset, probs: Tensor) -> Outcome:
        """Join a data set's test images with what a model says of them."""
        groups = dataset.test_groups
        return cls(
            probs.numpy(),
            dataset.test.labels.numpy(),
            dataset.class_names,
            None if groups is None else groups.numpy(),
            dataset.test_metadata,
        )

    @property
    def finite(self) -> bool:
        """Whether the model gave numbers at all; one that diverged does not."""
        return bool(np.isfinite(self.probs).all())

    def card(self) -> Scorecard:
        """Score all of them."""
        return scorecard(self.probs, self.labels, self.class_names, self.groups)

    def by_column(self) -> dict[str, list[dict[str, Any]]]:
        """Score each subgroup of each column that has some."""
        bands = {column: banded(words) for column, words in self.columns.items()}
        return {
            column: [
                asdict(each)
                for each in subgroups(
                    self.probs, self.labels, words, self.class_names, self.groups
                )
            ]
            for column, words in bands.items()
            if tells_kinds(words)
        }


def facts_of(tested: Outcome) -> dict[str, Any]:
    """Lay a test out for evaluation.json and for the page."""
    if not len(tested.labels) or not tested.finite:
        return {}
    content = {"test": asdict(tested.card()), "subgroups": tested.by_column()}
    shown: dict[str, Any] = _short(content | {"class_names": tested.class_names})
    return shown


def site_facts(
    simulation: Simulation, probs: Tensor | None, predict: Predict
) -> dict[str, Any]:
    """Score the model at each site that has labels which nobody learned from.

    These are the test images that came from a site's own folder, or else those that a
    labeled client holds out.

    Args:
        simulation: Whose sites they are.
        probs: Of the test images, if there are any.
        predict: For images that are not tested on.
    """
    names = simulation.class_names
    parts = _tested_at_sites(simulation, probs)
    on = "test images from its folder"
    if not parts:
        on = "labeled images that it holds out"
        held = simulation.federation.held_out
        parts = {
            id: _of(part, predict(part.images), names) for id, part in held.items()
        }
    detailed = len(parts) * len(names) <= _MOST_DETAILS
    rows = {str(id): _site(tested, detailed) for id, tested in parts.items()}
    shown: dict[str, Any] = _short({"sites_on": on, "sites": rows})
    return shown if rows else {}


def evaluated(
    simulation: Simulation, weights: Weights, predict: Predict, probs: Tensor | None
) -> dict[str, Any]:
    """Say all of evaluation.json about a model of a simulation.

    Args:
        simulation: With its images.
        weights: Of the model.
        predict: That model.
        probs: What it says of the test images, if there are any.
    """
    about: dict[str, Any] = {"model_sha256": digest(weights)}
    if probs is not None:
        about |= facts_of(Outcome.of(simulation.dataset, probs))
    return about | site_facts(simulation, probs, predict)


def evaluated_on(
    test: ImageSet, class_names: tuple[str, ...], weights: Weights, probs: Tensor
) -> dict[str, Any]:
    """Say all of evaluation.json about the model of a coordinator with test images."""
    found = facts_of(_of(test, probs, class_names))
    return {"model_sha256": digest(weights)} | found


def write_evaluation(folder: Path, content: Mapping[str, Any]) -> None:
    """Put evaluation.json beside the model that it is about."""
    write_whole(folder / FILE, (json.dumps(content) + "\n").encode())


def _of(part: ImageSet, probs: Tensor, names: tuple[str, ...]) -> Outcome:
    return Outcome(probs.numpy(), part.labels.numpy(), names)


def _tested_at_sites(
    simulation: Simulation, probs: Tensor | None
) -> dict[int, Outcome]:
    folders = simulation.folders
    if probs is None or folders is None or not folders.test_sites:
        return {}
    whole, owner = Outcome.of(simulation.dataset, probs), np.array(folders.test_sites)
    found = {}
    for id, name in enumerate(folders.names):
        rows = owner == name
        groups = None if whole.groups is None else whole.groups[rows]
        if rows.any():
            found[id] = Outcome(
                whole.probs[rows], whole.labels[rows], whole.class_names, groups
            )
    return found


def _site(tested: Outcome, detailed: bool) -> dict[str, Any]:
    num = len(tested.labels)
    if num < FEWEST or not tested.finite:
        return {"num": num}
    card = asdict(tested.card())
    for each in card["classes"]:
        del each["calibration"]  # of so few images, a curve for each class says nothing
    return {"num": num} | card if detailed else {"num": num, "scores": card["scores"]}


def _short(content: Any) -> Any:
    """Keep five digits of every number; more are noise and fill the page."""
    if isinstance(content, dict):
        return {key: _short(value) for key, value in content.items()}
    if isinstance(content, (list, tuple)):
        return [_short(each) for each in content]
    return float(f"{content:.5g}") if isinstance(content, float) else content
