"""What a client's code works with: network, views, settings, and streams of chance."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Annotated, Literal

import torch
from pydantic import Field, with_config
from torch import Tensor, nn

from fedsemi.data.augment import Views
from fedsemi.data.client import Client
from fedsemi.data.transfer import sent_to
from fedsemi.messages import Task, Weights
from fedsemi.models import Classifier, ModelSpec, Output
from fedsemi.models.outside import seeded
from fedsemi.models.precision import Precision
from fedsemi.noise import shortened, with_noise
from fedsemi.objectives.cached_views import (
    CachedViews,
    Encoding,
    FeatureStore,
    store_of,
)
from fedsemi.seeds import Streams, seed_of
from fedsemi.settings import STRICT, Count, NotNegative, Positive
from fedsemi.weights import weights_of

Loss = Literal["cross-entropy", "balanced-softmax"]


@with_config(STRICT)
@dataclass(frozen=True)
class LocalTraining:
    """Settings of local training; the defaults are the paper's."""

    epochs: Count = 1
    """E, passes over the client's data in one round."""
    batch_size: Annotated[int, Field(ge=2)] = 64
    """Samples of each part in one step, at least 2."""
    lr_labeled: Positive = 0.03
    """Learning rate of clients that have labels."""
    lr_unlabeled: Positive = 0.02
    """Learning rate of clients that have none."""
    momentum: Annotated[float, Field(ge=0, lt=1)] = 0.9
    """Of SGD."""
    nesterov: bool = False
    """Whether a step looks ahead along its momentum (Nesterov), as SemiFL's does."""
    keep_momentum: bool = True
    """Whether a client's momentum lives on from round to round."""
    weight_decay: NotNegative = 5e-4
    """On the encoder, batch norm included; the head has none."""
    clip_norm: Positive = 5.0
    """Largest norm of a clipped gradient."""
    clip: Literal["unlabeled-encoder", "all", "none"] = "unlabeled-encoder"
    """Which gradients are clipped: the encoder's on unlabeled batches, all, or none."""
    loss: Loss = "cross-entropy"
    """Loss on labels; balanced softmax adjusts logits by the client's class counts."""
    student_passes: Literal["joined", "separate"] = "joined"
    """How views pass the student's batch norm: those of labels in one batch, or as
    released each apart, the weak first; then also the weak ones of unlabeled images."""


Parts = Callable[[Classifier], Mapping[str, nn.Module]]
"""Makes what a method puts beside the classifier, by name: a projector, a head."""


@dataclass(frozen=True)
class StatisticsNoise:
    """Noise that a client adds to its statistics, see docs/privacy-budget.md."""

    multiplier: float
    """In units of `clip`."""
    clip: float
    """Longest vector of statistics."""
    secret: bytes = b""
    """What nobody else knows; in a simulation the task's seed is enough."""

    def added(self, statistics: Weights, high: float, task: Task) -> Weights:
        """Return statistics with noise, put back to where honest ones lie.

        One vector of at most `clip` with noise of multiplier * clip: in the place of
        zero it costs 1 / multiplier ** 2. Putting numbers back only uses what has been
        released by then.
        """
        deviation = self.multiplier * self.clip
        noisy = {}
        for name, value in statistics.items():
            short = shortened(value.double().flatten().numpy(), self.clip)
            purpose = (name, task.seed, task.round, task.client)
            found = with_noise(short, deviation, self.secret, *purpose)
            kept = torch.from_numpy(found).clamp(0, high).reshape(value.shape)
            noisy[name] = kept.to(value.dtype)
        return noisy


@dataclass(frozen=True)
class Setup:
    """What every method is built from: the network, the views and how clients learn."""

    model: ModelSpec
    views: Views
    local: LocalTraining = field(default_factory=LocalTraining)
    device: str = "cpu"
    precision: Precision = "float32"
    rounds: int = 0
    """Of the stage, for methods whose last one is special; 0 if nobody knows."""
    statistics_noise: StatisticsNoise | None = None
    """What is done to statistics before they leave a client; nothing if None."""
    features: Path | None = None
    """Where features of a frozen encoder are kept; in the user's cache if None."""

    @property
    def seen(self) -> Views | CachedViews:
        """How what `shown` returns becomes input of the network."""
        store = self._store
        return self.views if store is None else CachedViews(self.views, store)

    def shown(self, images: Tensor) -> Tensor:
        """Return images to take views of; names stand for them if features are kept.

        Args:
            images: uint8 [N, C, H, W].
        """
        store = self._store
        return images if store is None else store.names(images)

    @property
    def _store(self) -> FeatureStore | None:
        encoder = self.model.encoder
        if encoder is None or not encoder.is_cached:
            return None
        folder = self.features or Path.home() / ".cache" / "fedsemi" / "features"
        encoding = Encoding(self.model, self.views, self.precision, self.device)
        return store_of(encoding, folder)

    @property
    def parameter_names(self) -> frozenset[str]:
        """Name the network's parameters, which batch-norm statistics are not."""
        return frozenset(name for name, _ in self.model.empty().named_parameters())

    def first_parts(
        self, weights: Weights, parts: Parts | None, seed: int = 0
    ) -> Weights:
        """Return the weights with which the parts beside this classifier start.

        What is drawn for them depends on the seed alone, whoever made them.
        """
        with seeded(seed_of(seed, "parts")):
            made = parts(self.load(weights)) if parts else {}
        return {
            f"{name}.{key}": value
            for name, part in made.items()
            for key, value in weights_of(part).items()
        }

    def load(self, weights: Weights, parts: Parts | None = None) -> Classifier:
        """Build the network, with the parts beside it if there are any."""
        model = self.model.empty()
        for name, part in (parts(model) if parts else {}).items():
            model.add_module(name, part)
        model.load_state_dict(weights)
        model.precision = self.precision
        return self.model.laid_out(model).to(self.device)


@dataclass(frozen=True)
class Workbench:
    """What a client's code has at hand while it carries out one task."""

    client: Client
    setup: Setup
    streams: Streams

    @property
    def num_classes(self) -> int:
        """C."""
        return self.setup.model.num_classes

    def labeled(self, index: Tensor) -> tuple[Tensor, Tensor]:
        """Fetch labeled images and their labels to the device."""
        return self._sent(
            self.setup.shown(self.client.labeled_images)[index],
            self.client.labels[index],
        )

    def unlabeled(self, index: Tensor) -> Tensor:
        """Fetch unlabeled images to the device."""
        images = self.setup.shown(self.client.unlabeled_images)
        return sent_to(self.setup.device, images[index])

    def labeled_pixels(self, index: Tensor) -> Tensor:
        """Fetch labeled images for views of another kind than weak, strong, clean."""
        return sent_to(self.setup.device, self.client.labeled_images[index])

    def unlabeled_pixels(self, index: Tensor) -> Tensor:
        """Fetch unlabeled images for views of another kind."""
        return sent_to(self.setup.device, self.client.unlabeled_images[index])

    def labeled_for_views(self, index: Tensor) -> tuple[Tensor, Tensor]:
        """Fetch labeled images, resized for weak and strong views, and their labels."""
        return self._sent(self._labeled[index], self.client.labels[index])

    def unlabeled_for_views(self, index: Tensor) -> Tensor:
        """Fetch unlabeled images, resized for weak and strong views."""
        return sent_to(self.setup.device, self._unlabeled[index])

    def _sent(self, images: Tensor, labels: Tensor) -> tuple[Tensor, Tensor]:
        device = self.setup.device
        return sent_to(device, images), sent_to(device, labels)

    @cached_property
    def _labeled(self) -> Tensor:
        return self._for_views(self.client.labeled_images)

    @cached_property
    def _unlabeled(self) -> Tensor:
        return self._for_views(self.client.unlabeled_images)

    def _for_views(self, images: Tensor) -> Tensor:
        shown = self.setup.shown(images)
        return self.setup.views.resized(images) if shown is images else shown

    def weak(self, images: Tensor) -> Tensor:
        """Draw a weak view."""
        return self.setup.seen.weak(images, self.streams["weak"])

    def strong(self, images: Tensor) -> Tensor:
        """Draw a strong view."""
        return self.setup.seen.strong(images, self.streams["strong"])

    def clean(self, images: Tensor) -> Tensor:
        """Show the images as at test time."""
        return self.setup.seen.clean(images)

    def show(self, student: Classifier, views: Sequence[Tensor]) -> Output:
        """Return the student's output for views to learn from, one after the other."""
        if not self._separate:
            output: Output = student(torch.cat(list(views)))
            return output
        features, logits = zip(*(student(view) for view in views), strict=True)
        return Output(torch.cat(features), torch.cat(logits))

    @torch.no_grad()
    def show_weak(self, student: Classifier, images: Tensor) -> None:
        """Let only the student's batch norm see a weak view, where passes are separate.

        The released code passes it through the student and makes no loss of it.
        """
        if self._separate:
            student(self.weak(images))

    @property
    def _separate(self) -> bool:
        return self.setup.local.student_passes == "separate"


def with_epochs(setup: Setup, epochs: int) -> Setup:
    """Return the setup with another number of epochs."""
    return replace(setup, local=replace(setup.local, epochs=epochs))
