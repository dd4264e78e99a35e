"""What there is to choose from."""

from __future__ import annotations

import inspect

from fedsemi.api.tables import Table, table
from fedsemi.data.datasets import DATASETS
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
    """Return a row for each data set that `sites_from` takes by its name."""
    return table(
        {
            "dataset": name,
            "what": source.description,
            "classes": len(source.class_names),
            "train": source.counts[0],
            "test": source.counts[1],
            "license": source.licence,
        }
        for name, source in DATASETS.items()
    )


def list_models() -> list[str]:
    """Return the names of the networks; any torch module of your own goes as well."""
    return list(MODELS)
