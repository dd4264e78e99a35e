"""What is known to leak from each field that leaves a site, from leaks.toml."""

from __future__ import annotations

import tomllib
from fnmatch import fnmatchcase
from pathlib import Path

UNKNOWN = "not known; nobody has measured it"
"""Said of fields of methods from outside."""


def _read() -> dict[str, str]:
    table = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
    found = {}
    for name, said in table.items():
        parts = {name: said} if isinstance(said, str) else said
        prefix = "" if isinstance(said, str) else f"{name}."
        found |= {f"{prefix}{key}": text for key, text in parts.items()}
    return found


LEAKS: dict[str, str] = _read()
"""By the name that `fedsemi wire` gives a field; a name may end with `*`."""


def known_leak(field: str) -> str:
    """Say in a few words what a field is known to tell about a site.

    >>> known_leak("num_unlabeled")
    'how many unlabeled images the site has'
    """
    exact = LEAKS.get(field)
    alike = (text for name, text in LEAKS.items() if fnmatchcase(field, name))
    return exact or next(alike, UNKNOWN)
