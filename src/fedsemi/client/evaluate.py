"""What a model predicts, and how good the predictions are."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal, Protocol, get_args

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from fedsemi.errors import DataError
from fedsemi.models.classifier import Classifier

Integers = NDArray[np.int64]
Score = Literal["accuracy", "balanced_accuracy", "auc", "precision", "recall"]
"""A number of `Metrics`, by its name there and in the records of a run."""
SCORES: tuple[Score, ...] = get_args(Score)
MAIN_SCORES: tuple[Score, ...] = ("accuracy", "balanced_accuracy", "auc")
"""Those that reports and comparisons show."""

TEST_BATCH = 128
"""Images; what a larger batch computes on the way leaves the processor's cache."""


class CleanView(Protocol):
    """Whatever turns stored images into network input without augmentation."""

    def clean(self, images: Tensor, /) -> Tensor:
        """Return normalized floats for the uint8 images `[B, channels, H, W]`."""


@dataclass(frozen=True)
class Metrics:
    """How well predictions fit the truth; never NaN, but None where undefined.

    The predicted class is the one with the largest probability, the first of equals.
    """

    accuracy: float
    """Share of samples whose predicted class is the true one."""

    balanced_accuracy: float
    """Mean recall over the classes present in the truth."""

    auc: float | None
    """Area under the ROC curve, one class against the rest, mean over classes.

    Classes absent from the truth have no curve and are left out of the mean. None if
    no class has one (all samples are of one class) or if a probability is not finite.
    """

    precision: float
    """Mean over the classes in truth or predictions; 0 for one never predicted."""

    recall: float
    """Mean over the classes in truth or predictions; 0 for one absent from the truth.

    Such a class lowers this number but not `balanced_accuracy`; otherwise both agree.
    """

    per_class_recall: tuple[float | None, ...]
    """Recall of each class; None for a class absent from the truth."""

    confusion: tuple[tuple[int, ...], ...] = ()
    """Sample counts, `confusion[true][predicted]`."""

    @property
    def scores(self) -> dict[Score, float | None]:
        """The single numbers, by name."""
        return {
            "accuracy": self.accuracy,
            "balanced_accuracy": self.balanced_accuracy,
            "auc": self.auc,
            "precision": self.precision,
            "recall": self.recall,
        }


def predict(
    model: Classifier,
    images: Tensor,
    views: CleanView,
    batch_size: int = 500,
    device: torch.device | str = "cpu",
    threads: int = 1,
) -> Tensor:
    """Return the class probabilities of each image.

    Batches are independent of each other, so the number of threads changes no bit.

    Args:
        model: A network that lives on `device`; put in eval mode meanwhile.
        images: Stored images, uint8, `[N, channels, H, W]`, on any device.
        views: Gives the clean view of a batch.
        batch_size: Images at a time; bounds the memory.
        device: Where to compute.
        threads: Batches at the same time.

    Returns:
        Probabilities `[N, C]` on the CPU.
    """

    @torch.inference_mode()
    def probs(batch: Tensor) -> Tensor:
        logits: Tensor = model(views.clean(batch.to(device))).logits
        return logits.float().softmax(dim=1).cpu()

    parts = torch.split(images, batch_size)
    with _eval_mode(model):
        if threads == 1:
            batches = [probs(part) for part in parts]
        else:
            with ThreadPoolExecutor(threads) as pool:
                batches = list(pool.map(probs, parts))
    # Joined outside of inference mode, so that the result can take part in a loss.
    return torch.cat(batches)


def metrics(probs: Tensor, labels: Tensor, num_classes: int) -> Metrics:
    """Compare predicted probabilities with the true classes.

    Args:
        probs: Class probabilities, `[N, C]`.
        labels: True classes, `[N]`.
        num_classes: C, which may be more than the classes that occur.

    Raises:
        DataError: There is no sample, or shapes or labels do not fit.
    """
    _check(probs, labels, num_classes)
    scores = probs.detach().cpu().numpy()
    truth: Integers = labels.cpu().numpy().astype(np.int64)
    confusion = _confusion(truth, scores.argmax(axis=1), num_classes)  # [C, C]
    hits = confusion.diagonal()  # [C]
    actual, predicted = confusion.sum(axis=1), confusion.sum(axis=0)  # [C], [C]
    occurs = (actual + predicted) > 0
    # The larger of count and one: where the count is zero, so are the hits.
    recall = hits / np.maximum(actual, 1)
    precision = hits / np.maximum(predicted, 1)
    return Metrics(
        accuracy=float(hits.sum() / len(truth)),
        balanced_accuracy=float(recall[actual > 0].mean()),
        auc=_macro_auc(scores, truth),
        precision=float(precision[occurs].mean()),
        recall=float(recall[occurs].mean()),
        per_class_recall=tuple(
            float(value) if count else None
            for value, count in zip(recall, actual, strict=True)
        ),
        confusion=tuple(tuple(int(n) for n in row) for row in confusion),
    )


@contextmanager
def _eval_mode(model: nn.Module) -> Iterator[None]:
    # Module by module: a part that was frozen in eval mode must stay so afterwards.
    training = [module for module in model.modules() if module.training]
    model.eval()
    try:
        yield
    finally:
        for module in training:
            module.training = True


def _check(probs: Tensor, labels: Tensor, num_classes: int) -> None:
    if labels.ndim != 1 or probs.shape != (len(labels), num_classes):
        raise DataError(
            f"metrics needs probabilities [N, {num_classes}] and labels [N], found "
            f"{list(probs.shape)} and {list(labels.shape)}"
        )
    if len(labels) == 0:
        raise DataError("metrics needs at least one sample, found none")
    low, high = int(labels.min()), int(labels.max())
    if low < 0 or high >= num_classes:
        raise DataError(
            f"metrics needs labels from 0 to {num_classes - 1}, found {low} to {high}"
        )


def _confusion(truth: Integers, predicted: Integers, num_classes: int) -> Integers:
    pairs = np.bincount(truth * num_classes + predicted, minlength=num_classes**2)
    return pairs.reshape(num_classes, num_classes)


def _macro_auc(scores: NDArray[Any], truth: Integers) -> float | None:
    if not np.isfinite(scores).all():
        return None
    present = np.unique(truth)
    if len(present) < 2:
        return None
    areas = [_auc(scores[:, index], truth == index) for index in present]
    return float(np.mean(areas))


def _auc(score: NDArray[Any], positive: NDArray[np.bool_]) -> float:
    """Return the share of (positive, negative) pairs in the right order; ties half.

    This is the area under the ROC curve by the Mann-Whitney statistic. It counts in
    integers, hence is exact, and takes one sort per class.
    """
    positives, negatives = np.sort(score[positive]), np.sort(score[~positive])
    below = np.searchsorted(negatives, positives, side="left").sum()
    not_above = np.searchsorted(negatives, positives, side="right").sum()
    return float(below + not_above) / (2 * len(positives) * len(negatives))
