"""Bounds on plans and on tasks: a section of a site's policy, kept by default.

They refuse what no training needs: plans that wear a site out, and tasks made for
reading a site's data off its answer. They promise no privacy; what a coordinator can
learn within them stands in docs/what-a-site-reveals.md.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from pydantic import with_config
from torch import Tensor

from fedsemi.config.blueprint import Blueprint
from fedsemi.config.privacy import PrivacySettings
from fedsemi.data.client import Client
from fedsemi.errors import ProtocolError
from fedsemi.messages import Task, Weights
from fedsemi.method import Method, innermost
from fedsemi.models import Classifier
from fedsemi.objectives.workbench import LocalTraining
from fedsemi.privacy.steps import LETTER
from fedsemi.settings import STRICT, Count, NotNegative, Positive, Whole

Range = tuple[Positive, Positive]
"""Least and most; a list in TOML."""
_UNTOLD = 1e300
_LOOKED_AT = 32
"""Images of its own on which a site looks at what a model does."""


class Beyond(NamedTuple):
    """What of a plan is beyond a bound."""

    bound: str
    """The name of the bound."""
    why: str


@with_config(STRICT)
@dataclass(frozen=True)
class Bounds:
    """What a site agrees to, unless its owner agrees to more by hand."""

    sites: Count = 3
    """Fewest sites in the federation, as its coordinator tells, and in a masked sum, as
    the plan says; of two, each can work out from the mean what the other one sent."""
    images: Whole = 0
    """Fewest images of this site's own; an answer says more of each if they are few."""
    rounds: Count = 10_000
    """Most rounds of all stages together."""
    epochs: Count = 100
    """Most passes over the data in one round."""
    stages: Count = 20
    """Most stages of a plan."""
    parameters: Count = 100_000_000
    """Largest network."""
    side: Count = 1024
    """Largest side of the images that the network sees, in pixels."""
    number: Count = 4096
    """Largest whole number among a network's and a method's settings."""
    magnitude: Positive = 1e6
    """Largest weight, and largest other number among the settings."""
    batches: Count = 4
    """Fewest batches that labeled and unlabeled images are each cut into.

    One batch of all labels is one exact gradient, which may tell how many images of
    each class there are.
    """
    lr: Range = (1e-4, 1.0)
    """Learning rates; with smaller ones many steps say as much as a single one."""
    momentum: NotNegative = 0.99
    """Largest momentum."""
    weight_decay: NotNegative = 0.1
    """Largest weight decay."""
    clip_norm: Range = (0.01, 1000.0)
    """Norms at which gradients are clipped."""
    spread: NotNegative = 0.1
    """How far the logits of a site's images must differ, in those of a fresh network.

    A model that says the same of every image is no start for training. Its gradient
    holds nothing but the labels.
    """
    cache_gb: Positive = 10.0
    """Largest `model.encoder.cache_gb`: features on the site's disk, in GB."""
    spare: Whole = 2
    """How often a round may be asked again with something else, after a restart."""

    def outside(self, blueprint: Blueprint, client: Client) -> Iterator[Beyond]:
        """Say what of a plan a site with this data does not agree to."""
        if client.num_labeled + client.num_unlabeled < self.images:
            yield Beyond("images", "the site has too few images for any plan")
        sizes = list(self._sizes(blueprint))
        yield from sizes
        if not sizes:  # else it may take long to count
            count = blueprint.model.num_parameters
            most = self.parameters
            yield from _beyond("parameters", "the number of weights", count, 1, most)
        experiment = blueprint.experiment
        yield from self._company(experiment.privacy)
        for i, stage in enumerate(experiment.stages[: self.stages]):
            yield from self._settings(f"stages.{i}", stage.settings)
            yield from self._local(f"stages.{i}", experiment.local_of(stage), client)

    def _company(self, privacy: PrivacySettings) -> Iterator[Beyond]:
        """Hide among as many sites in each masked sum as in the federation.

        How many there are is the coordinator's word; the least of a sum, of a group's
        too, is what the sites themselves hold to.
        """
        if privacy.masked and privacy.least_sites < self.sites:
            told = f"privacy.least_sites = {privacy.least_sites} lets so few sites"
            yield Beyond("sites", f"{told} make a masked sum, not {self.sites}")

    def _sizes(self, blueprint: Blueprint) -> Iterator[Beyond]:
        stages, model = blueprint.experiment.stages, blueprint.model
        views, most = blueprint.views, self.stages
        yield from _beyond("stages", "the number of stages", len(stages), 1, most)
        rounds = sum(stage.rounds for stage in stages)
        yield from _beyond("rounds", "the number of rounds", rounds, 1, self.rounds)
        for name in ("num_classes", "in_channels", "width"):
            value = getattr(model, name)
            if value is not None:
                yield from _not_whole("number", f"model.{name}", value, self.number)
        yield from self._settings("model", model.settings)
        if model.encoder is not None:
            sizes = {"adapter": model.encoder.adapter}
            yield from self._settings("model.encoder", sizes)
            disk, most_disk = model.encoder.cache_gb, self.cache_gb
            yield from _beyond("cache_gb", "cache_gb", disk, 0, most_disk)
        for side in (model.image_size, views.size, views.pre):
            yield from _not_whole("side", "the side of images", side, self.side)
        any_number = -self.magnitude, self.magnitude
        for value in (*views.mean, *views.std):
            yield from _beyond("magnitude", "views", value, *any_number)

    def _settings(self, prefix: str, settings: Mapping[str, Any]) -> Iterator[Beyond]:
        """Look at a method's own settings, whose names say what they are for."""
        for name, value in settings.items():
            path = f"{prefix}.{name}"
            if isinstance(value, Mapping):
                yield from self._settings(path, value)
            elif isinstance(value, float) and name.endswith("lr"):
                yield from _beyond("lr", path, value, *self.lr)
            elif isinstance(value, float):
                any_number = -self.magnitude, self.magnitude
                yield from _beyond("magnitude", path, value, *any_number)
            elif name.endswith("seed") or isinstance(value, bool):
                continue
            elif isinstance(value, int):
                bound = "epochs" if name.endswith("epochs") else "number"
                yield from _beyond(bound, path, value, 0, getattr(self, bound))

    def _local(
        self, prefix: str, local: LocalTraining, client: Client
    ) -> Iterator[Beyond]:
        for name, bound, least, most in (
            ("epochs", "epochs", 1, self.epochs),
            ("lr_labeled", "lr", *self.lr),
            ("lr_unlabeled", "lr", *self.lr),
            ("momentum", "momentum", 0, self.momentum),
            ("weight_decay", "weight_decay", 0, self.weight_decay),
            ("clip_norm", "clip_norm", *self.clip_norm),
        ):
            value = getattr(local, name)
            yield from _beyond(bound, f"{prefix}: {name}", value, least, most)
        parts = client.num_labeled, client.num_unlabeled
        # The coordinator is not told how many images there are before it is trusted.
        if any(0 < count < self.batches * local.batch_size for count in parts):
            yield Beyond(
                "batches",
                f"{prefix}: batch_size = {local.batch_size} cuts the site's labeled or "
                f"unlabeled images into fewer than {self.batches} batches",
            )

    def check_task(self, blueprint: Blueprint, task: Task, method: Method[Any]) -> None:
        """Refuse a task whose tensors are not those of the plan's network and method.

        What no method reads could only be there to try something out.
        """
        _check_shapes(blueprint.model.build(0).state_dict(), task.weights)
        for name, value in (*task.weights.items(), *task.broadcast.items()):
            if value.is_floating_point() and not _small(value, self.magnitude):
                raise ProtocolError(
                    f"'{name}' is not finite, or beyond {self.magnitude:g}",
                    code="FS2134",
                )
        letter = frozenset[str]() if method.sends_model else frozenset({LETTER})
        for name in task.broadcast.keys() - innermost(method).announces - letter:
            raise ProtocolError(
                f"a task brings '{name}', which the plan's method does not announce",
                code="FS2134",
            )

    def check_spread(self, blueprint: Blueprint, task: Task, client: Client) -> None:
        """Refuse a model that is not at work: it says the same of the site's images."""
        inputs = blueprint.views.clean(_some_images(client))
        if len(inputs) < 2:
            return
        fresh = blueprint.model.build(0)
        usual = _spread(fresh, inputs)
        fresh.load_state_dict({k: task.weights[k] for k in fresh.state_dict()})
        if not _spread(fresh, inputs) >= self.spread * usual:
            raise ProtocolError(
                "the model says nearly the same of all images, so that its gradient "
                "would show the labels alone; send a fresh one or one that was trained",
                code="FS2135",
            )


BOUNDS = Bounds()


def _not_whole(bound: str, name: str, value: float, most: float) -> Iterator[Beyond]:
    if isinstance(value, float):
        yield Beyond(bound, f"{name} is no whole number")
    else:
        yield from _beyond(bound, name, value, 1, most)


def _beyond(
    bound: str, name: str, value: float, least: float, most: float
) -> Iterator[Beyond]:
    if isinstance(value, bool) or not isinstance(value, int | float):
        yield Beyond(bound, f"{name} is no number")
    elif not least <= value <= most:  # so that NaN is beyond, too
        # Whole numbers of JSON know no end, but those of a float do.
        shown = f"{value:g}" if abs(value) < _UNTOLD else "a number without end"
        yield Beyond(bound, f"{name} = {shown} is not from {least:g} to {most:g}")


def _check_shapes(due: Weights, found: Weights) -> None:
    for name, value in due.items():
        sent = found.get(name)
        if sent is None or sent.shape != value.shape or sent.dtype != value.dtype:
            raise ProtocolError(
                f"'{name}' is missing or not of the plan's network", code="FS2134"
            )


def _small(value: Tensor, most: float) -> bool:
    return not value.numel() or bool(value.abs().max() <= most)


def _some_images(client: Client) -> Tensor:
    images = client.labeled_images if client.num_labeled else client.unlabeled_images
    return images[:: max(1, len(images) // _LOOKED_AT)][:_LOOKED_AT]


def _spread(model: Classifier, inputs: Tensor) -> float:
    """Return how far the logits of a class differ between images, as in training."""
    with torch.no_grad():
        logits: Tensor = model.train()(inputs).logits
    return float((logits - logits.mean(1, keepdim=True)).std(0).mean())
