"""Which images the last model errs on or doubts: their places, never their pixels.

These are kept in analysis.json, so that the folder of a run holds no image. Mistakes
are those on the test set; what is unlabeled is judged by the model alone, since a
`Client` has no field for labels that it does not have.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from torch import Tensor

from fedsemi.data.client import Client

NUM_MISTAKES = 12
"""A screen of them."""
_PER_CLIENT = 6
_ALL_CLIENTS = 240
"""Bounds a page of many clients, each of which has at least one image on it."""

Predict = Callable[[Tensor], Tensor]
"""Stored images [N, channels, H, W] to probabilities [N, C]."""


def mistakes(probs: Tensor, labels: Tensor) -> list[dict[str, Any]]:
    """Find the images whose wrong class a model is surest of, the surest first.

    Args:
        probs: Of the test images, `[N, C]`.
        labels: Their classes, `[N]`.
    """
    confidence, taken = probs.max(1)
    wrong = (taken != labels).nonzero().flatten()
    order = confidence[wrong].argsort(descending=True, stable=True)
    return [
        {
            "row": row,
            "true": int(labels[row]),
            "label": int(taken[row]),
            "confidence": float(confidence[row]),
        }
        for row in wrong[order[:NUM_MISTAKES]].tolist()
    ]


def least_sure(clients: Sequence[Client], predict: Predict) -> dict[str, Any]:
    """Find the unlabeled images of each client that a model is least sure of."""
    unlabeled = [client for client in clients if client.num_unlabeled]
    count = min(_PER_CLIENT, max(1, _ALL_CLIENTS // max(1, len(unlabeled))))
    return {
        str(client.id): _least_sure(predict(client.unlabeled_images), count)
        for client in unlabeled[:_ALL_CLIENTS]
    }


def _least_sure(probs: Tensor, count: int) -> list[dict[str, Any]]:
    confidence, label = probs.max(1)
    rows = confidence.argsort(stable=True)[:count].tolist()
    return [
        {"row": row, "label": int(label[row]), "confidence": float(confidence[row])}
        for row in rows
    ]
