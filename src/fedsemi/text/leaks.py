"""What is known to leak from each field that leaves a site: one table for all."""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path

NOT_MEASURED = "not measured"


def known_leak(field: str) -> str:
    """Say in a few words what is known to leak from a field.

    >>> known_leak("num_unlabeled")
    'how many unlabeled images there are'
    >>> known_leak("statistics.of_my_own")
    'not measured'
    """
    known = _table()
    return known.get(field) or known.get(f"{field.split('.')[0]}.*") or NOT_MEASURED


@cache
def _table() -> dict[str, str]:
    path = Path(__file__).with_suffix(".toml")
    found: dict[str, str] = tomllib.loads(path.read_text("utf-8"))["fields"]
    return found
