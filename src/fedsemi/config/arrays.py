"""Settings of an experiment whose images were in a Python program's memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fedsemi.data.arrays import ARRAYS
from fedsemi.errors import ConfigError

if TYPE_CHECKING:
    from fedsemi.config.experiment import Experiment

_OWN = {"num_clients", "labeled_clients", "sha256"}
"""What [partition] may say of arrays: who is there, and the hash of who owns what."""


def check_arrays(experiment: Experiment) -> None:
    """Arrays are named by hashes, and nothing that would be ignored may be set."""
    data, partition = experiment.data, experiment.partition
    if data.name != ARRAYS:
        return
    if data.sha256 is None or partition.sha256 is None or data.image_size is None:
        raise ConfigError(
            "data.name = 'arrays' stands for images in memory, which a config cannot "
            "hold; use fedsemi.simulate in Python, or data.name = 'folders'",
            code="FS4170",
        )
    fixed = type(partition)()
    ignored = [
        f"partition.{name}"
        for name in sorted(type(partition).model_fields.keys() - _OWN)
        if getattr(partition, name) != getattr(fixed, name)
    ]
    limits = ("train_limit", "test_limit")
    ignored += [f"data.{name}" for name in limits if getattr(data, name) is not None]
    if ignored:
        raise ConfigError(
            f"arrays say who owns which images: leave out {', '.join(ignored)}",
            code="FS4102",
        )
