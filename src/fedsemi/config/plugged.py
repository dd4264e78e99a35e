"""Which plug-ins an experiment uses, and whether two sides have the same ones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import Any

from fedsemi.client.learners import LEARNERS
from fedsemi.config.experiment import Experiment
from fedsemi.config.method_settings import learners_in
from fedsemi.data.arrays import ARRAYS
from fedsemi.data.datasets import DATASETS
from fedsemi.data.site_settings import FOLDERS
from fedsemi.errors import ProtocolError
from fedsemi.methods import METHODS
from fedsemi.models import MODELS
from fedsemi.plugins.identity import Identity
from fedsemi.text.printable import printable

Plugins = dict[str, dict[str, str]]
"""What stands behind each plug-in: its kind, release and source, by its name."""


def plugins_of(experiment: Experiment, *, with_data: bool = False) -> Plugins:
    """Describe the plug-ins that an experiment uses; {} if all comes with fedsemi.

    Args:
        experiment: Its methods, learners and model are looked up.
        with_data: Whether its data set counts, too; sites have images of their own.
    """
    found: Plugins = {}
    for each in _identities(experiment, with_data):
        if each is not None:
            content = asdict(each)
            found[content.pop("name")] = content
    return dict(sorted(found.items()))


def check_plugins(planned: Mapping[str, Any], here: Plugins) -> None:
    """Refuse a plan whose plug-ins are other ones than those that lie here."""
    for name in sorted({*planned, *here}):
        there, own = planned.get(name), here.get(name)
        if there != own:
            raise ProtocolError(
                f"the plug-in '{printable(name, 60)}' is {_shown(own)} here, but "
                f"{_shown(there)} in the plan; install the same version everywhere",
                code="FS2138",
            )


def _identities(experiment: Experiment, with_data: bool) -> Iterator[Identity | None]:
    for stage in experiment.stages:
        yield METHODS.identity(stage.method)
        for name in learners_in(stage.settings).values():
            yield LEARNERS.identity(name) if name in LEARNERS else None
    yield MODELS.identity(experiment.model.name)
    if with_data and experiment.data.name not in (FOLDERS, ARRAYS):
        yield DATASETS.identity(experiment.data.name)


def _shown(found: Any) -> str:
    if not isinstance(found, Mapping):
        return "unknown"
    release = f"{found.get('distribution', '')} {found.get('version', '')}".strip()
    source = printable(str(found.get("sha256", "")), 12)
    return f"{printable(release, 40)} {source}".strip()
