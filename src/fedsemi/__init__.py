"""Federated semi-supervised learning: one classifier, many sites, few labels.

>>> import fedsemi
>>> sites = fedsemi.sites_from("digits", num_clients=4)
>>> run = fedsemi.simulate(sites, stages=[("supervised", 20), ("semianagg", 20)])
... # doctest: +SKIP
>>> run.accuracy, run.model, run.report("report.html")  # doctest: +SKIP

The names in `__all__` are the public surface, see docs/api.md; all modules below are
private and may change. A name is imported when it is first used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fedsemi.api.comparison import compare
    from fedsemi.api.handle import Run, load
    from fedsemi.api.listing import list_datasets, list_methods, list_models
    from fedsemi.api.sites import Sites
    from fedsemi.api.sources import (
        sites_from,
        sites_from_arrays,
        sites_from_dataset,
        sites_from_folders,
    )
    from fedsemi.api.training import resume, run, simulate
    from fedsemi.client.learners import LocalLearner
    from fedsemi.contributions import (
        by_data_size,
        by_diversity,
        by_supervision,
        shares_by,
    )
    from fedsemi.data.client import Client
    from fedsemi.data.outside import dataset_of
    from fedsemi.errors import FedSemiError, Interrupted
    from fedsemi.messages import ClientInfo, Task, Update
    from fedsemi.method import Method, Provenance, Statistic
    from fedsemi.methods.averaging import Averaging, SemiAveraging
    from fedsemi.objectives.base import Objective
    from fedsemi.objectives.workbench import Workbench
    from fedsemi.state import ServerState

__all__ = [
    "Averaging",
    "Client",
    "ClientInfo",
    "FedSemiError",
    "Interrupted",
    "LocalLearner",
    "Method",
    "Objective",
    "Provenance",
    "Run",
    "SemiAveraging",
    "ServerState",
    "Sites",
    "Statistic",
    "Task",
    "Update",
    "Workbench",
    "__version__",
    "by_data_size",
    "by_diversity",
    "by_supervision",
    "compare",
    "dataset_of",
    "list_datasets",
    "list_methods",
    "list_models",
    "load",
    "resume",
    "run",
    "shares_by",
    "simulate",
    "sites_from",
    "sites_from_arrays",
    "sites_from_dataset",
    "sites_from_folders",
]

_HOMES = {
    "fedsemi.api.comparison": ("compare",),
    "fedsemi.api.handle": ("Run", "load"),
    "fedsemi.api.listing": ("list_datasets", "list_methods", "list_models"),
    "fedsemi.api.sites": ("Sites",),
    "fedsemi.api.sources": (
        "sites_from",
        "sites_from_arrays",
        "sites_from_dataset",
        "sites_from_folders",
    ),
    "fedsemi.api.training": ("resume", "run", "simulate"),
    "fedsemi.client.learners": ("LocalLearner",),
    "fedsemi.contributions": (
        "by_data_size",
        "by_diversity",
        "by_supervision",
        "shares_by",
    ),
    "fedsemi.data.client": ("Client",),
    "fedsemi.data.outside": ("dataset_of",),
    "fedsemi.errors": ("FedSemiError", "Interrupted"),
    "fedsemi.messages": ("ClientInfo", "Task", "Update"),
    "fedsemi.method": ("Method", "Provenance", "Statistic"),
    "fedsemi.methods.averaging": ("Averaging", "SemiAveraging"),
    "fedsemi.objectives.base": ("Objective",),
    "fedsemi.objectives.workbench": ("Workbench",),
    "fedsemi.state": ("ServerState",),
}
_HOME = {name: home for home, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used: torch alone takes seconds."""
    found: Any
    if name == "__version__":
        found = importlib.import_module("importlib.metadata").version("fedsemi")
    elif name in _HOME:
        found = getattr(importlib.import_module(_HOME[name]), name)
    else:
        raise AttributeError(f"module 'fedsemi' has no attribute {name!r}")
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted(__all__)
