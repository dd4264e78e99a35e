"""What a run keeps for its report beside the rounds: analysis.json.

Written once when the run begins (who owns what) and again when it ends (what the last
model confuses, and where the images lie that it doubts); then evaluation.json as well.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from torch import Tensor

from fedsemi.client.evaluate import TEST_BATCH, metrics, predict
from fedsemi.config.blueprint import Blueprint
from fedsemi.data.dataset import ImageSet
from fedsemi.data.label_gaps import LabelGaps, label_gaps
from fedsemi.messages import Weights
from fedsemi.report.correctness import packed
from fedsemi.report.doubts import least_sure, mistakes
from fedsemi.report.evaluation import evaluated, evaluated_on, write_evaluation
from fedsemi.runs.model_card import write_card
from fedsemi.simulation.build import Simulation
from fedsemi.storage import write_whole

FILE = "analysis.json"


class Analysis:
    """Writes analysis.json and the model card of one run."""

    def __init__(
        self, folder: Path, blueprint: Blueprint, test: ImageSet | None = None
    ) -> None:
        """Write down what is known at the beginning.

        Args:
            folder: Of the run.
            blueprint: What is run; a simulation has its images with it.
            test: The test images of a coordinator, if it has any.
        """
        self._path = folder / FILE
        self._blueprint, self._test = blueprint, test
        self._content: dict[str, Any] = {"class_names": blueprint.class_names}
        if isinstance(blueprint, Simulation):
            self._content |= federation_facts(blueprint)
        write_card(folder, blueprint)
        self._write()

    def finish(self, weights: Weights, threads: int = 1) -> None:
        """Add what the last model makes of the images, if they are at hand."""
        blueprint = self._blueprint
        if isinstance(blueprint, Simulation):
            facts, evaluation = model_facts(blueprint, weights, threads)
        elif self._test is not None and len(self._test):
            probs = predictor(blueprint, weights, threads)(self._test.images)
            facts = test_facts(self._test, probs)
            evaluation = evaluated_on(self._test, blueprint.class_names, weights, probs)
        else:
            return
        self._content |= facts
        self._write()
        write_evaluation(self._path.parent, evaluation)

    def _write(self) -> None:
        write_whole(self._path, (json.dumps(self._content) + "\n").encode())


def federation_facts(simulation: Simulation) -> dict[str, Any]:
    """Say who owns what, and by what names; real sites know the classes of labels only.

    The folders of real sites are named, never placed: a report may be handed on.
    """
    dataset, federation = simulation.dataset, simulation.federation
    folders = simulation.folders
    classes = dataset.num_classes
    counts = simulation.partition.table(dataset.train.labels.numpy(), classes)
    held_out = {id: len(part) for id, part in federation.held_out.items()}
    return {
        "data": {
            "name": dataset.name,
            "origin": dataset.origin,
            "image_size": dataset.image_size,
            "train": len(dataset.train),
            "test": len(dataset.test),
            "left_out": len(folders.left_out) if folders else 0,
        },
        "labeled_only": federation.oracle is None,
        "label_gaps": federation_gaps(simulation).warnings,
        "clients": {
            str(client.id): {
                "num_labeled": client.num_labeled,
                "num_unlabeled": client.num_unlabeled,
                "num_held_out": held_out.get(client.id, 0),
                "class_count": counts[client.id].tolist(),
                **({"site": folders.names[client.id]} if folders else {}),
            }
            for client in federation.clients
        },
    }


def federation_gaps(simulation: Simulation) -> LabelGaps:
    """Find the classes that the clients' own labels leave out."""
    labels = [client.labels.numpy() for client in simulation.federation.clients]
    return label_gaps(labels, simulation.class_names)


def model_facts(
    simulation: Simulation, weights: Weights, threads: int = 1
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Say what a model does on the test set, and which unlabeled images it doubts.

    Returns:
        What analysis.json holds of it, and evaluation.json.
    """
    dataset = simulation.dataset
    probs_of = predictor(simulation, weights, threads)
    facts: dict[str, Any] = {
        "least_sure": least_sure(simulation.federation.clients, probs_of)
    }
    probs = probs_of(dataset.test.images) if len(dataset.test) else None
    if probs is not None:
        facts |= test_facts(dataset.test, probs)
        facts["mistakes"] = mistakes(probs, dataset.test.labels)
    return facts, evaluated(simulation, weights, probs_of, probs)


def predictor(
    blueprint: Blueprint, weights: Weights, threads: int = 1
) -> Callable[[Tensor], Tensor]:
    """Return what gives stored images their probabilities."""
    setup = blueprint.setup(blueprint.experiment.stages[-1])
    model, views, device = setup.load(weights), setup.seen, setup.device

    def probs_of(images: Tensor) -> Tensor:
        return predict(model, setup.shown(images), views, TEST_BATCH, device, threads)

    return probs_of


def test_facts(test: ImageSet, probs: Tensor) -> dict[str, Any]:
    """Count confusions, and note which images were right."""
    labels = test.labels
    return {
        "confusion": metrics(probs, labels, probs.shape[1]).confusion,
        "correct": packed(probs, labels),
    }
