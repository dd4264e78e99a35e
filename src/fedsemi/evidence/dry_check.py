"""What a plan would take on a GPU: shapes, memory and time, with nothing run.

Counted from the networks and the numbers of images; the seconds are an estimate.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor, nn

from fedsemi.cards import CARDS
from fedsemi.config.experiment import Experiment, Stage
from fedsemi.data.datasets import DATASETS
from fedsemi.data.readers import isic18
from fedsemi.data.readers.source import DatasetSource
from fedsemi.evidence.jobs import Plan
from fedsemi.models import ModelSpec
from fedsemi.models.cost import multiply_adds
from fedsemi.use.progress import duration

RATE = 4e12
"""Multiply-adds a second: of a GPU that states 20 TFLOPS in float32, two fifths."""
_PASSES = 6
"""Forward passes that learning from an image is worth in an epoch: two views, each
with a backward pass of twice its cost; a teacher's pass is in one view's place."""
_FLOAT = 4
_COPIES = 3
"""Of the weights: themselves, gradients and momentum."""
_ON_LABELS = ("supervised", "cbafed-warmup", "head-only")
_SIDE = 32


@dataclass(frozen=True)
class Shape:
    """What a network is fed with, and what it needs."""

    dataset: str
    model: ModelSpec
    batch: int
    stored: int
    """Bytes of all images, as they are kept."""

    @cached_property
    def forward(self) -> int:
        """Multiply-adds of a forward pass on one image."""
        return multiply_adds(self.model, self.model.image_size)

    @property
    def step_bytes(self) -> int:
        """Memory of a training step: weights, and activations of a batch twice.

        Activations are the outputs of all layers, kept for the backward pass.
        """
        weights = _COPIES * _FLOAT * self.model.num_parameters
        return weights + 2 * self.batch * _FLOAT * activations(self.model)

    @property
    def line(self) -> str:
        """Describe it."""
        side, model = self.model.image_size, self.model
        step, stored = _megabytes(self.step_bytes), _megabytes(self.stored)
        return (
            f"{self.dataset}: {model.name}, {model.num_parameters:,} parameters, "
            f"{self.forward / 1e6:,.0f} million multiply-adds an image of "
            f"{model.in_channels}x{side}x{side}, {model.num_classes} classes; a step "
            f"with two batches of {self.batch} needs about {step}, the images {stored}"
        )


def dry_check(plan: Plan) -> Iterator[str]:
    """Say for each data set what its runs need, and for all how long they take."""
    shapes: dict[str, Shape] = {}
    passes: dict[str, list[float]] = {}
    warm: set[str] = set()
    for job in plan.todo:
        name = job.setting.dataset
        shapes.setdefault(name, shape_of(name, job.experiment))
        stages = list(job.experiment.stages[-1:])
        if job.warm_up is not None and job.warm_up.sha256 not in warm:
            warm.add(job.warm_up.sha256)
            stages += job.warm_up.stages
        own = sum(_passes_of(job.experiment, stage) for stage in stages)
        passes.setdefault(name, []).append(own)
    total = 0.0
    for name, shape in shapes.items():
        seconds = sum(passes[name]) * shape.forward / RATE
        total += seconds
        runs = len(passes[name])
        yield shape.line
        yield f"{name}: {runs} runs, {duration(seconds / runs)} each, warm-ups shared"
    if shapes:
        yield (
            f"about {duration(total)} for all, an estimate: counted, not measured, at "
            f"{RATE / 1e12:g} trillion multiply-adds a second"
        )


def shape_of(dataset: str, experiment: Experiment) -> Shape:
    """Work out the shapes of an experiment without its data."""
    source, data = _source(experiment), experiment.data
    large = data.name == "isic18"
    side = data.image_size or (isic18.IMAGE_SIZE if large else _SIDE)
    kept = isic18.stored_side(side) if large else side
    spec = ModelSpec(
        experiment.model.name,
        len(source.class_names),
        width=experiment.model.width,
        image_size=side,
    )
    stored = sum(_counts(experiment)) * spec.in_channels * kept**2
    return Shape(dataset, spec, experiment.local.batch_size, stored)


def activations(spec: ModelSpec) -> int:
    """Count the numbers that all layers put out for one image; nothing is computed."""
    counts: list[int] = []

    def count(_: nn.Module, __: object, output: object) -> None:
        if isinstance(output, Tensor):
            counts.append(output.numel())

    model = spec.empty().to("meta").eval()
    for layer in model.modules():
        if not list(layer.children()):
            layer.register_forward_hook(count)
    side = spec.image_size
    model(torch.zeros(1, spec.in_channels, side, side, device="meta"))
    return sum(counts)


def _passes_of(experiment: Experiment, stage: Stage) -> float:
    """Count the forward passes that a stage is worth."""
    train, test = _counts(experiment)
    learned = train * stage.settings.get("participation", 1.0)
    if stage.method in _ON_LABELS:
        learned = _labeled(experiment, train)
    epochs = experiment.local_of(stage).epochs
    tests = -(-stage.rounds // experiment.evaluation.every)
    return float(stage.rounds * epochs * _PASSES * learned + tests * test)


def _labeled(experiment: Experiment, train: int) -> float:
    """Count the images with labels, about."""
    partition, setting = experiment.partition, experiment.setting
    if setting.card in ("LAC", "LS"):
        card = CARDS[setting.card]
        each = setting.labels_per_class or card.labels_per_class or 0
        owners = 1 if card.server_trains else partition.num_clients
        return owners * each * len(_source(experiment).class_names)
    if partition.labeled_clients == "all":
        return train
    chosen = partition.labeled_clients
    number = chosen if isinstance(chosen, int) else len(chosen)
    return train * (partition.labeled_fraction or number / partition.num_clients)


def _source(experiment: Experiment) -> DatasetSource:
    source = DATASETS[experiment.data.name]
    assert isinstance(source, DatasetSource), "profiles name no data set of a plug-in"
    return source


def _counts(experiment: Experiment) -> tuple[int, int]:
    train, test = _source(experiment).counts
    limits = experiment.data.train_limit, experiment.data.test_limit
    return min(train, limits[0] or train), min(test, limits[1] or test)


def _megabytes(size: int) -> str:
    return f"{size / 1e6:,.0f} MB"
