"""What there is to choose from."""

from __future__ import annotations

import inspect
from typing import Any

from fedsemi.api.tables import Table, table
from fedsemi.data.datasets import DATASETS
from fedsemi.data.readers.source import DatasetSource
from fedsemi.methods import METHODS
from fedsemi.models import MODELS


def list_methods() -> Table:
    """Return a row for each method: those of fedsemi, of plug-ins, and your own."""
    return table(
        {
            "method": name,
            "what": (inspect.getdoc(METHODS[name]) or "").split("\n")[0],
            "learner": METHODS[name].provenance.learner,
            "aggregation": METHODS[name].provenance.aggregation,
            "paper": METHODS[name].provenance.reference,
        }
        for name in METHODS
    )


def list_datasets() -> Table:
    """Return a row for each data set that `sites_from` takes by its name.

    What plug-ins bring is not counted, for that would read it.
    """
    return table(_dataset(name) for name in DATASETS)


def _dataset(name: str) -> dict[str, Any]:
    source = DATASETS[name]
    ours = source if isinstance(source, DatasetSource) else None
    what = ours.description if ours else (inspect.getdoc(source) or "").split("\n")[0]
    return {
        "dataset": name,
        "what": what,
        "classes": len(ours.class_names) if ours else None,
        "train": ours.counts[0] if ours else None,
        "test": ours.counts[1] if ours else None,
        "license": ours.license if ours else None,
    }


def list_models() -> list[str]:
    """Return the names of the networks; any torch module of your own goes as well."""
    return list(MODELS)
