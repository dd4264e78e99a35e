"""Tests of the models that a server has after a round."""

from __future__ import annotations

from functools import partial
from typing import Any

from fedsemi.client.evaluate import TEST_BATCH, Metrics, metrics, predict
from fedsemi.data.dataset import ImageSet
from fedsemi.messages import Weights
from fedsemi.objectives.workbench import Setup
from fedsemi.state import ServerState


def tests_of(
    state: ServerState,
    setup: Setup,
    images: ImageSet | None,
    delivers: str,
    threads: int,
) -> dict[str, Any]:
    """Test all that a state has of models, and return what a record says of it.

    Args:
        state: After a round.
        setup: To load a model with.
        images: Test images; without any, no model has a test.
        delivers: The model that the test is of: "global" or "running-mean".
        threads: Cores for the test.
    """
    test = partial(_test, setup, images, threads)
    model, mean = test(state.weights), test(state.running_mean)
    tested = {name: test(weights) for name, weights in state.also_tested.items()}
    others = {name: found.accuracy for name, found in tested.items() if found}
    if delivers == "running-mean":
        beside = {"global model": model.accuracy} if model else {}
        return {"test": mean or model, "also_tested": beside | others}
    return {"test": model, "running_mean": mean, "also_tested": others}


def _test(
    setup: Setup, images: ImageSet | None, threads: int, weights: Weights
) -> Metrics | None:
    """Test a model, if there is one and something to test it on."""
    if images is None or not weights:
        return None
    model, views, device = setup.load(weights), setup.seen, setup.device
    shown = setup.shown(images.images)
    probs = predict(model, shown, views, TEST_BATCH, device, threads)
    return metrics(probs, images.labels, setup.model.num_classes)
