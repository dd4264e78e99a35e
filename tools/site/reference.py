"""The page of all public names, which mkdocstrings fills from their docstrings."""

from __future__ import annotations

import fedsemi

GROUPS = {
    "Sites": "sites_from_arrays sites_from_dataset sites_from_folders sites_from Sites "
    "dataset_of",
    "Training and comparing": "simulate run resume load compare Run",
    "What there is": "list_methods list_models list_datasets",
    "Methods of your own": "Method Averaging SemiAveraging Statistic Provenance "
    "ServerState",
    "What travels": "Task Update ClientInfo",
    "Shares": "shares_by by_data_size by_supervision by_diversity",
    "Learning at a site": "LocalLearner Objective Workbench Client",
    "Errors": "FedSemiError Interrupted",
}
"""All names of `fedsemi.__all__` but its version, in an order for readers."""

_OPENING = """\
# Every public name

`import fedsemi` offers these names and no others; [From Python](api.md) shows them at
work. All modules below `fedsemi.` are private and may change.
"""


def page() -> str:
    """Return the page, with a place for each name."""
    parts = [_OPENING]
    for title, names in GROUPS.items():
        parts.append(f"## {title}\n")
        parts += [_entry(name) for name in names.split()]
    return "\n".join(parts)


def _entry(name: str) -> str:
    """Point at the module where a name lives: names of the package come late."""
    found = getattr(fedsemi, name)
    home = f"{found.__module__}.{found.__qualname__}"
    return f"::: {home}\n    options:\n      heading: fedsemi.{name}\n"
