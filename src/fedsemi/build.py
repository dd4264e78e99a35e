"""From settings to objects: the only place that sees both."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fedsemi.config import Experiment, Stage, method_settings
from fedsemi.data.augment import Views
from fedsemi.data.dataset import Dataset
from fedsemi.data.datasets import load
from fedsemi.data.partition import Partition, make_partition
from fedsemi.errors import DataError, StorageError
from fedsemi.local import Setup
from fedsemi.messages import Weights
from fedsemi.method import Method
from fedsemi.methods import METHODS
from fedsemi.models import ModelSpec
from fedsemi.seeds import seed_of
from fedsemi.simulation.federation import Federation, make_federation
from fedsemi.storage import read_weights

_PRE_SIZE = {32: 40, 224: 250}


@dataclass(frozen=True, eq=False)
class Simulation:
    """An experiment with its data in memory."""

    experiment: Experiment
    dataset: Dataset
    partition: Partition
    federation: Federation
    model: ModelSpec
    views: Views

    def setup(self, stage: Stage) -> Setup:
        """Return what the stage's method is built from."""
        local = self.experiment.local_of(stage)
        return Setup(self.model, self.views, local, self.experiment.device)

    def method(self, stage: Stage) -> Method[Any]:
        """Build the method of a stage."""
        settings = method_settings(stage.method, stage.settings)
        method: Method[Any] = METHODS[stage.method](self.setup(stage), **settings)
        return method

    def initial_weights(self) -> Weights:
        """Return the weights that the first stage begins with."""
        fresh = self.model.build(seed_of(self.experiment.seed, "init")).state_dict()
        if self.experiment.start is None:
            return fresh
        return _fitting(read_weights(Path(self.experiment.start)), fresh)


def build(experiment: Experiment, data_dir: Path | None = None) -> Simulation:
    """Read the data, deal it out, and describe the network."""
    dataset = load_dataset(experiment, data_dir)
    partition = partition_of(experiment, dataset)
    settings = experiment.model
    model = ModelSpec(
        settings.name,
        dataset.num_classes,
        dataset.channels,
        settings.width,
        dataset.image_size,
    )
    federation = make_federation(
        dataset, partition, experiment.evaluation.validation_fraction, experiment.seed
    )
    views = views_of(dataset, experiment.data.flip)
    return Simulation(experiment, dataset, partition, federation, model, views)


def load_dataset(experiment: Experiment, data_dir: Path | None = None) -> Dataset:
    """Read the data set of an experiment, or the part of it that is asked for."""
    data = experiment.data
    dataset = load(data.name, data_dir, image_size=data.image_size, split=data.split)
    return dataset.subset(data.train_limit, data.test_limit, experiment.seed)


def partition_of(experiment: Experiment, dataset: Dataset) -> Partition:
    """Deal out the training images, and check the hash if one is given."""
    settings = experiment.partition
    partition = make_partition(
        dataset.train.labels.numpy(),
        dataset.num_classes,
        scheme=settings.scheme,
        num_clients=settings.num_clients,
        labeled_clients=settings.labeled_clients,
        dirichlet_alpha=settings.dirichlet_alpha,
        labeled_fraction=settings.labeled_fraction,
        min_size=settings.min_size,
        seed=experiment.seed if settings.seed is None else settings.seed,
    )
    if settings.sha256 not in (None, partition.sha256):
        raise DataError(
            f"the partition is {partition.sha256[:12]}…, but the config asks for "
            f"{str(settings.sha256)[:12]}…; data, seed or settings have changed",
            code="FS3012",
        )
    return partition


def views_of(dataset: Dataset, flip: bool = True) -> Views:
    """Describe the views: room for random crops as in the paper, 40 for 32."""
    size = dataset.image_size
    pre = _PRE_SIZE.get(size, round(size * 1.25))
    return Views(size, pre, dataset.mean, dataset.std, flip)


def _fitting(weights: Weights, fresh: Weights) -> Weights:
    for key, value in fresh.items():
        if key not in weights or weights[key].shape != value.shape:
            raise StorageError(
                f"the start model does not fit at '{key}'; use the same model, width "
                "and number of classes",
                code="FS1106",
            )
    return {key: weights[key] for key in fresh}
