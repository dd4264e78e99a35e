"""Which enrolled sites take no part: those that have left, were retired, or are away.

    members.json    {"3": {"state": "away", "reason": "is away until 2026-11-18"}}

It lies in the coordinator's folder, so that it outlasts a restart, and is read whenever
somebody may have changed it: `fedsemi retire` and `admit` do, beside a running server.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fedsemi.deployment.standing import LEFT
from fedsemi.engine import Absence
from fedsemi.errors import ConfigError
from fedsemi.storage import write_whole
from fedsemi.text.json_text import parsed_object
from fedsemi.text.printable import printable

MEMBERS = "members.json"
RETIRED = "was retired by the coordinator"
_FOR_GOOD = ("left", "retired")


class Members:
    """The list of a coordinator's absent sites."""

    def __init__(self, coordinator: Path) -> None:
        self._path = coordinator / MEMBERS

    def absent(self) -> Mapping[int, Absence]:
        """Say who takes no part, and why."""
        return {
            site: Absence(found["reason"], found["state"] in _FOR_GOOD)
            for site, found in self._read().items()
        }

    def excuse(self, site: int, code: str, reason: str) -> None:
        """Note what a site has said of itself: that it leaves, or is away."""
        self._write(site, "left" if code == LEFT else "away", printable(reason, 100))

    def retire(self, site: int) -> None:
        """Note that the operator does without a site from now on."""
        self._write(site, "retired", RETIRED)

    def welcome(self, site: int) -> None:
        """Note that a site takes part again."""
        found = self._read()
        if found.pop(site, None) is not None:
            self._save(found)

    def _write(self, site: int, state: str, reason: str) -> None:
        found = self._read()
        if found.get(site, {}).get("state") not in _FOR_GOOD or state in _FOR_GOOD:
            self._save({**found, site: {"state": state, "reason": reason}})

    def _save(self, found: Mapping[int, Any]) -> None:
        text = json.dumps({str(site): found[site] for site in sorted(found)}, indent=2)
        write_whole(self._path, f"{text}\n".encode())

    def _read(self) -> dict[int, dict[str, str]]:
        if not self._path.exists():
            return {}
        try:
            found = parsed_object(self._path.read_bytes())
            return {
                int(site): {"state": each["state"], "reason": str(each["reason"])}
                for site, each in found.items()
            }
        except (OSError, ValueError, KeyError, TypeError):
            raise ConfigError(
                f"'{self._path}' is damaged; remove it, and retire again who shall not "
                "take part",
                code="FS5045",
            ) from None
