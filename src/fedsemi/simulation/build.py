"""From settings to objects: the only place that sees both."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch

from fedsemi.cards import CARDS
from fedsemi.config.blueprint import Blueprint
from fedsemi.config.experiment import DataSettings, Experiment
from fedsemi.config.privacy import rules_of
from fedsemi.config.setting import check_fit
from fedsemi.data.arrays import ARRAYS
from fedsemi.data.augment import Views, pre_size
from fedsemi.data.dataset import Dataset
from fedsemi.data.datasets import load
from fedsemi.data.few_labels import at_every_client, at_server
from fedsemi.data.partition import Partition, make_partition
from fedsemi.data.partition_file import read_partition_file
from fedsemi.data.schemes import Rows
from fedsemi.data.sites import FolderFederation, read_federation
from fedsemi.errors import ConfigError, DataError
from fedsemi.messages import ClientInfo
from fedsemi.methods import METHODS
from fedsemi.models import ModelSpec
from fedsemi.models.cost import multiply_adds
from fedsemi.runs.time_left import Load, work_of_round
from fedsemi.simulation.federation import Federation, make_federation


@dataclass(frozen=True, eq=False)
class Simulation(Blueprint):
    """An experiment with its data in memory."""

    dataset: Dataset
    partition: Partition
    federation: Federation
    folders: FolderFederation | None = None
    """Where the data came from, if from the folders of real sites."""

    def work(self, workers: int) -> list[float]:
        """Guess how long a round of each stage takes, in units of one view."""
        every = self.experiment.evaluation.every
        clients = [client.info for client in self.federation.clients]
        shared = Load(
            multiply_adds=multiply_adds(self.model, self.views.size),
            num_tested=len(self.federation.test.labels) / every,
            workers=workers,
        )
        return [
            work_of_round(
                clients,
                replace(shared, epochs=local.epochs, batch_size=local.batch_size),
                supervised=METHODS[stage.method].labels_only,
            )
            for stage in self.experiment.stages
            for local in [self.experiment.local_of(stage)]
        ]

    def provenance(self) -> dict[str, Any]:
        """Name the data by hashes."""
        file = self.partition.file_sha256
        return {
            "data_sha256": self.dataset.sha256,
            "partition_sha256": self.partition.sha256,
            **({} if file is None else {"partition_file_sha256": file}),
            "labeled_share": self.partition.labeled_share,
        }

    def clients(self) -> tuple[ClientInfo, ...]:
        """Say who takes part and with how much data."""
        return tuple(client.info for client in self.federation.clients)

    def num_images(self) -> dict[str, int]:
        """Count the images of each folder, if the data came from folders."""
        return {} if self.folders is None else self.folders.num_images


def build(experiment: Experiment, data_dir: Path | None = None) -> Simulation:
    """Read the data, deal it out, and describe the network."""
    check_device(experiment.device)
    folders = read_folders(experiment)
    if folders is not None:
        # Real sites know no truth.
        return assemble(
            experiment, folders.dataset, folders.partition, truth=False, folders=folders
        )
    dataset = load_dataset(experiment, data_dir)
    return assemble(experiment, dataset, partition_of(experiment, dataset, data_dir))


def assemble(
    experiment: Experiment,
    dataset: Dataset,
    partition: Partition,
    *,
    truth: bool = True,
    folders: FolderFederation | None = None,
) -> Simulation:
    """Join an experiment with data that are in memory already.

    Args:
        experiment: Its hashes of data and partition, if it has any, are checked.
        dataset: All images.
        partition: Who owns which of them.
        truth: Whether the labels of unlabeled images are known, for the records.
        folders: Where the data came from, if from the folders of real sites.
    """
    check_device(experiment.device)
    _check_sha256("data", experiment.data.sha256, dataset)
    _check_sha256("partition", experiment.partition.sha256, partition)
    settings = experiment.model
    model = ModelSpec(
        settings.name,
        dataset.num_classes,
        dataset.channels,
        settings.width,
        dataset.image_size,
        settings.settings,
        settings.encoder,
    ).located()
    federation = make_federation(
        dataset, partition, experiment.evaluation.validation_fraction, experiment.seed
    )
    check_fit(experiment, [client.info for client in federation.clients])
    rules_of(experiment.privacy).check_company(len(federation.clients))
    if not truth:
        federation = replace(federation, oracle=None)
    views = views_of(dataset, experiment.data, model)
    names = dataset.class_names
    return Simulation(
        experiment, model, views, names, dataset, partition, federation, folders
    )


def check_device(name: str) -> None:
    """Refuse a device that this machine does not have, before anything is read."""
    try:
        torch.empty(0, device=name)
    except (RuntimeError, AssertionError) as error:
        reason = " ".join(str(error).split(".")[0].split())
        raise ConfigError(
            f"device '{name}' cannot be used here ({reason}); leave it at 'cpu', or "
            "install a torch that has it",
            code="FS4113",
        ) from None


def read_folders(experiment: Experiment) -> FolderFederation | None:
    """Read the folders of an experiment on somebody's own images."""
    if experiment.sites is None:
        return None
    size = experiment.data.image_size or 32
    return read_federation(experiment.sites, size, pre_size(size), experiment.seed)


def load_dataset(experiment: Experiment, data_dir: Path | None = None) -> Dataset:
    """Read the data set of an experiment, or the part of it that is asked for."""
    data, split = experiment.data, str(experiment.data.split)
    if data.name == ARRAYS:
        raise DataError(
            f"the images (sha256 {str(data.sha256)[:12]}…) were arrays in memory, "
            "which no command can read again; give them once more in Python, e.g. to "
            "fedsemi.resume(folder, sites)",
            code="FS3040",
        )
    if experiment.partition.file is not None:
        split = read_partition_file(experiment.partition.file, data_dir).split
    dataset = load(data.name, data_dir, image_size=data.image_size, split=split)
    return dataset.subset(data.train_limit, data.test_limit, experiment.seed)


def partition_of(
    experiment: Experiment, dataset: Dataset, data_dir: Path | None = None
) -> Partition:
    """Deal out the training images, and check the hash if one is given."""
    settings = experiment.partition
    labels, num_classes = dataset.train.labels.numpy(), dataset.num_classes
    if settings.file is not None:
        file = read_partition_file(settings.file, data_dir)
        partition = file.partition(
            labels, num_classes, settings.num_clients, settings.labeled_clients
        )
    else:
        partition = _drawn(experiment, labels, num_classes)
    _check_sha256("partition", settings.sha256, partition)
    return partition


def _drawn(experiment: Experiment, labels: Rows, num_classes: int) -> Partition:
    """Deal rows out, with labels where the card says that they are."""
    settings, setting = experiment.partition, experiment.setting
    seed = experiment.seed if settings.seed is None else settings.seed
    card = CARDS[setting.card or "LC"]
    per_class = setting.labels_per_class or card.labels_per_class

    def deal(truth: Rows) -> Partition:
        return make_partition(
            truth,
            num_classes,
            scheme=settings.scheme,
            rare=settings.rare,
            num_clients=settings.num_clients,
            labeled_clients=settings.labeled_clients,
            dirichlet_alpha=settings.dirichlet_alpha,
            labeled_fraction=settings.labeled_fraction or card.labeled_fraction,
            min_size=settings.min_size,
            seed=seed,
        )

    if per_class is None:
        return deal(labels)
    if card.server_trains:
        return at_server(labels, per_class, seed, deal)
    return at_every_client(deal(labels), labels, per_class, seed)


def _check_sha256(what: str, wanted: str | None, found: Dataset | Partition) -> None:
    # The hash of many images takes a while, so it is made only if one is wanted.
    if wanted is not None and wanted != found.sha256:
        raise DataError(
            f"the {what} is {found.sha256[:12]}…, but the config asks for "
            f"{wanted[:12]}…; data, seed or settings have changed",
            code="FS3012",
        )


def views_of(
    dataset: Dataset, settings: DataSettings, model: ModelSpec | None = None
) -> Views:
    """Describe the views; a pretrained network may want pixels on a scale of its own.

    Gray pictures that it sees as color ones get the mean of its scales.
    """
    size = dataset.image_size
    pre = settings.pre_size or pre_size(size)
    mean, std = (model and model.pixels) or (dataset.mean, dataset.std)
    if len(mean) != dataset.channels == 1:
        mean, std = (sum(mean) / len(mean),), (sum(std) / len(std),)
    return Views(size, pre, mean, std, settings.flip)
