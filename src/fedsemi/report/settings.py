"""The settings of runs, laid flat so that they can be listed and compared."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from fedsemi.report.run import Run

_PATHS = ("sites.folders", "sites.test", "start", "partition.file")
_PLACE = re.compile(r"""(?<![^\s=,"'\[(])/(?:[^/"',]+/)*(?=[^/"',\s])""")
"""The folders that lead to a file or folder, where its path is absolute."""


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


def shareable(settings: dict[str, Any]) -> dict[str, Any]:
    """Name files and folders without saying where they are on somebody's machine."""
    return {
        key: without_places(value) if key in _PATHS else value
        for key, value in settings.items()
    }


def without_places(value: Any) -> Any:
    """Leave of every absolute path its last part.

    >>> without_places(["--set", "sites.test=/home/me/scans", "runs/a"])
    ['--set', 'sites.test=scans', 'runs/a']
    """
    if isinstance(value, list):
        return [without_places(each) for each in value]
    return _PLACE.sub("", value) if isinstance(value, str) else value
