"""The settings of runs, laid flat so that they can be listed and compared."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fedsemi.report.run import Run


def flat(content: Any, prefix: str = "") -> dict[str, Any]:
    """Name every setting by its path.

    >>> flat({"seed": 1, "stages": [{"rounds": 2}]})
    {'seed': 1, 'stages.0.rounds': 2}
    """
    if isinstance(content, dict):
        pairs = list(content.items())
    elif isinstance(content, list) and any(isinstance(c, dict) for c in content):
        pairs = list(enumerate(content))
    else:
        return {prefix: content}
    found: dict[str, Any] = {}
    for key, value in pairs:
        found |= flat(value, f"{prefix}.{key}" if prefix else str(key))
    return found


def differing(runs: Sequence[Run]) -> dict[str, list[Any]]:
    """Name the settings in which runs differ, with the value of each run."""
    settings = [flat(run.config) for run in runs]
    keys = dict.fromkeys(key for each in settings for key in each)
    table = {key: [each.get(key) for each in settings] for key in keys}
    return {
        key: values
        for key, values in table.items()
        if any(value != values[0] for value in values)
    }
