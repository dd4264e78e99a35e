"""Who plays: a federation that trains, sites that are judged, a server that simulates.

The training images are shared out in four parts of the same size. One trains the
model, one belongs to the sites that are judged, and two belong to the server, which
deals them out to sites of its own and learns from what these would send.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from fedsemi.config.experiment import Experiment, make_experiment
from fedsemi.data.client import Client
from fedsemi.data.dataset import Dataset
from fedsemi.engine import WrappedEngine
from fedsemi.engines.in_process import InProcess
from fedsemi.errors import ConfigError
from fedsemi.messages import ClientInfo, Task, Update
from fedsemi.method import Method
from fedsemi.runs.records import Step
from fedsemi.seeds import seed_of
from fedsemi.server.stages import Judge, run_stages
from fedsemi.simulation.build import Simulation, assemble, partition_of
from fedsemi.storage import make_folder, write_weights

Kind = Literal["labeled", "unlabeled"]
Rows = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Site:
    """A site with what only the oracle knows of it."""

    client: Client
    rows: Rows
    """Its images, as rows of the part that it was dealt from."""
    truth: Tensor
    """The class of each row."""

    def counts(self, num_classes: int) -> npt.NDArray[np.float64]:
        """Count its images by class."""
        found: npt.NDArray[np.float64] = (
            self.truth.bincount(minlength=num_classes).double().numpy()
        )
        return found


@dataclass(frozen=True, eq=False)
class Parts:
    """The training images in four parts, none of which shares an image or an object."""

    federation: Dataset
    judged: Dataset
    server: tuple[Dataset, Dataset]


def share_out(dataset: Dataset, seed: int) -> Parts:
    """Cut the training images in four; those of one object stay together."""
    units = np.arange(len(dataset.train))
    if dataset.groups is not None:
        units = dataset.groups.numpy()
    random = np.random.default_rng(seed_of(seed, "leak", "parts"))
    names = np.array_split(random.permutation(np.unique(units)), 4)
    rows = [np.flatnonzero(np.isin(units, part)) for part in names]
    federation, judged, first, second = (_taken(dataset, part) for part in rows)
    return Parts(federation, judged, (first, second))


def _taken(dataset: Dataset, rows: Rows) -> Dataset:
    groups = None if dataset.groups is None else dataset.groups[torch.as_tensor(rows)]
    return replace(dataset, train=dataset.train.take(rows), groups=groups)


def check_can_be_dealt(experiment: Experiment) -> None:
    """Refuse a config whose images nobody can deal out anew."""
    if experiment.sites is not None or experiment.partition.file is not None:
        what = "[sites]" if experiment.sites is not None else "partition.file"
        raise ConfigError(
            f"leak judges guesses by the truth and deals images out many times, which "
            f"{what} does not allow; use a config with a data set and a scheme, e.g. "
            "configs/digits.toml",
            code="FS6300",
        )


def deal(
    experiment: Experiment, part: Dataset, kind: Kind, count: int, seed: int
) -> list[Site]:
    """Deal a part out by the config's scheme, again and again, until sites suffice."""
    sites: list[Site] = []
    number = 0
    while len(sites) < count:
        drawn = _of_kind(experiment, kind, seed_of(seed, "leak", "deal", number))
        simulation = assemble(drawn, part, partition_of(drawn, part))
        found = _sites(simulation, kind)
        if not found:
            raise ConfigError(
                f"no site of the config is {kind}, so there is nobody to judge; see "
                "partition.labeled_clients",
                code="FS6301",
            )
        sites += found
        number += 1
    return sites[:count]


def _of_kind(experiment: Experiment, kind: Kind, seed: int) -> Experiment:
    content = experiment.model_dump(mode="json", exclude_none=True)
    labeled = {"labeled_clients": "all", "labeled_fraction": None}
    content["partition"] |= {"seed": seed} | (labeled if kind == "labeled" else {})
    content["evaluation"]["validation_fraction"] = 0.0
    return make_experiment(_unsealed(content))


def _unsealed(content: dict[str, Any]) -> dict[str, Any]:
    """Drop hashes of the whole data: a part has others."""
    for section in ("data", "partition"):
        content[section].pop("sha256", None)
    return content


def _sites(simulation: Simulation, kind: Kind) -> list[Site]:
    oracle = simulation.federation.oracle
    assert oracle is not None, "data sets have labels for all of their images"
    pairs = zip(
        simulation.federation.clients, simulation.partition.clients, strict=True
    )
    return [
        Site(client, index.rows, torch.cat([client.labels, oracle.truth[client.id]]))
        for client, index in pairs
        if is_of(kind, client.info)
    ]


def is_of(kind: Kind, client: ClientInfo) -> bool:
    """Tell whether a client is of the kind; one with both parts counts as both."""
    return bool(client.num_labeled if kind == "labeled" else client.num_unlabeled)


class _Listening(WrappedEngine):
    """An engine that keeps the last task of each kind of site."""

    def __init__(self, engine: InProcess, asked: dict[Kind, Task]) -> None:
        super().__init__(engine)
        self._inner, self._asked = engine, asked
        self._infos = {info.id: info for info in engine.clients()}

    def run(self, tasks: Sequence[Task]) -> Sequence[Update]:
        kinds: tuple[Kind, ...] = ("labeled", "unlabeled")
        for task in tasks:
            for kind in kinds:
                if is_of(kind, self._infos[task.client]):
                    self._asked[kind] = task
        return self._inner.run(tasks)


def blueprint_of(experiment: Experiment, part: Dataset) -> Simulation:
    """Join an experiment with a part of its images."""
    content = experiment.model_dump(mode="json", exclude_none=True)
    own = make_experiment(_unsealed(content))
    return assemble(own, part, partition_of(own, part))


def warmed(experiment: Experiment, part: Dataset, folder: Path) -> Experiment:
    """Return the last stage alone, which starts where the stages before it ended.

    These are the same for all methods; whoever comes first leaves their model.
    """
    content = experiment.model_dump(mode="json", exclude_none=True)
    *before, last = content["stages"]
    if not before:
        return experiment
    first = make_experiment({**content, "stages": before})
    path = make_folder(folder) / f"warm-up-{first.sha256[:12]}.safetensors"
    if not path.exists():
        simulation = blueprint_of(first, part)
        write_weights(path, _trained(simulation, {}).weights)
    return make_experiment({**content, "stages": [last], "start": str(path)})


def last_tasks(experiment: Experiment, part: Dataset) -> dict[Kind, Task]:
    """Run all stages, and return what the last round asked of each kind of site."""
    asked: dict[Kind, Task] = {}
    _trained(blueprint_of(experiment, part), asked)
    return asked


def _trained(simulation: Simulation, asked: dict[Kind, Task]) -> Step:
    federation = simulation.federation

    def open_engine(method: Method[Any], stage: int) -> _Listening:
        return _Listening(InProcess(method, federation.clients), asked)

    judge = Judge(held_out=federation.held_out)
    *_, last = run_stages(simulation, open_engine, judge)
    return last
