"""The sites of a federation: where their images are, and who has labels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fedsemi.api.tables import Rows, Table, table
from fedsemi.config.experiment import Experiment, make_experiment
from fedsemi.data.arrays import ARRAYS
from fedsemi.data.dataset import Dataset
from fedsemi.data.partition import Partition
from fedsemi.simulation.build import Simulation, assemble, build
from fedsemi.text.printable import printable

_ANY_MODEL = {"name": "resnet8"}
_ANY_STAGE = [{"method": "supervised", "rounds": 1}]


@dataclass(frozen=True, eq=False)
class InMemory:
    """Images that a program holds."""

    dataset: Dataset
    partition: Partition
    truth: bool
    """Whether the labels of unlabeled images are known, for the records."""


@dataclass(frozen=True)
class _Facts:
    """What is shown of sites."""

    rows: Rows
    num_tested: int
    class_names: tuple[str, ...]


@dataclass(frozen=True, eq=False, repr=False)
class Sites:
    """A federation: made by one of the `sites_from` functions, given to `simulate`.

    Printed, it is a table of its sites. What a config can say is dealt out by the seed
    of each run, as a config would; what was given as arrays stays as it is.
    """

    settings: Mapping[str, Any]
    """The sections of a config that name the images: [data], [partition], [sites]."""
    data_dir: Path | None = None
    """The folder of the data sets; None for the usual ones."""
    memory: InMemory | None = None
    """The images themselves, if no config can name them."""

    _seen: dict[int, _Facts] = field(default_factory=dict, init=False)
    """What was found, by seed; to read all images takes a while."""

    def table(self, seed: int = 1) -> Table:
        """Return a row for each site, as a run with this seed would deal them out."""
        return table(self._facts(seed).rows)

    @property
    def class_names(self) -> tuple[str, ...]:
        """The classes, in the order of the labels."""
        return self._facts().class_names

    def __len__(self) -> int:
        return len(self._facts().rows)

    def __repr__(self) -> str:
        facts = self._facts()
        names = facts.class_names
        shown = ", ".join(names[:10]) + (", …" if len(names) > 10 else "")
        tested = f"{facts.num_tested} images to test on"
        return f"{facts.rows!r}\n{tested}; {len(names)} classes: {printable(shown)}"

    def simulation(self, experiment: Experiment) -> Simulation:
        """Join an experiment with the images."""
        kept = self.memory
        if kept is None:
            return build(experiment, self.data_dir)
        return assemble(experiment, kept.dataset, kept.partition, truth=kept.truth)

    def _facts(self, seed: int = 1) -> _Facts:
        if seed not in self._seen:
            content = {"model": _ANY_MODEL, "stages": _ANY_STAGE, "seed": seed}
            experiment = make_experiment({**self.settings, **content})
            self._seen[seed] = _facts_of(self.simulation(experiment))
        return self._seen[seed]


def _facts_of(simulation: Simulation) -> _Facts:
    labels = simulation.dataset.train.labels
    names = simulation.folders.names if simulation.folders else None
    rows = Rows(
        {
            "site": names[number] if names else number,
            "images": len(client),
            "labeled": len(client.labeled),
            "unlabeled": len(client.unlabeled),
            "classes": len(set(labels[client.labeled].tolist())),
        }
        for number, client in enumerate(simulation.partition.clients)
    )
    return _Facts(rows, len(simulation.dataset.test), simulation.class_names)


def held(dataset: Dataset, partition: Partition, truth: bool, flip: bool) -> Sites:
    """Make sites of what a program holds; a run names it by its hashes."""
    pairs = enumerate(partition.clients)
    settings = {
        "data": {
            "name": ARRAYS,
            "image_size": dataset.image_size,
            "sha256": dataset.sha256,
            "flip": flip,
        },
        "partition": {
            "num_clients": len(partition),
            "labeled_clients": [id for id, client in pairs if len(client.labeled)],
            "sha256": partition.sha256,
        },
    }
    return Sites(settings, memory=InMemory(dataset, partition, truth))
