"""Whether a site takes part: its owner may leave for good, or be away for a while.

    standing.json    {"state": "away", "until": 1795000000.0}

It is read anew for every letter. Whoever is away says so instead of training; whoever
has left says so once, and then works no more.
"""

from __future__ import annotations

import json
import time
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Literal

from fedsemi.deployment.standing import AWAY, LEFT
from fedsemi.errors import ConfigError, ProtocolError
from fedsemi.storage import remove, write_whole
from fedsemi.text.json_text import parsed_object
from fedsemi.text.printable import typed

STANDING = "standing.json"


@dataclass(frozen=True)
class Standing:
    """What the owner of a site has decided."""

    state: Literal["here", "away", "left"] = "here"
    until: float | None = None
    """When a site that is away is back by itself; when it is told to if left out."""
    told: bool = False
    """Whether the coordinator knows."""

    def excuse(self, now: float) -> ProtocolError | None:
        """Return what to say instead of an answer, None to answer."""
        if self.state == "left":
            return ProtocolError("has left the federation for good", code=LEFT)
        if self.state == "away" and (self.until is None or now < self.until):
            until = "" if self.until is None else f" until {moment(self.until)}"
            return ProtocolError(f"is away{until}", code=AWAY)
        return None


def read_standing(folder: Path) -> Standing:
    """Read what the owner has decided; without a file the site takes part."""
    path = folder / STANDING
    if not path.exists():
        return Standing()
    try:
        found = parsed_object(path.read_bytes())
        if found.get("state") not in ("here", "away", "left"):
            raise ValueError("state")
        return Standing(**found)
    except (OSError, ValueError, TypeError):
        raise ConfigError(
            f"'{path}' is damaged; decide again with `fedsemi site pause`, `leave` or "
            f"`{typed('fedsemi', 'site', 'return', folder)}`",
            code="FS5045",
        ) from None


def write_standing(folder: Path, standing: Standing) -> None:
    """Note what the owner has decided."""
    if standing == Standing():
        remove(folder / STANDING)
        return
    text = json.dumps(asdict(standing)) + "\n"
    write_whole(folder / STANDING, text.encode(), private=True)


def check_standing(folder: Path) -> None:
    """Refuse to answer while the site takes no part."""
    excuse = read_standing(folder).excuse(time.time())
    if excuse is not None:
        raise excuse


def note_told(folder: Path) -> None:
    """Note that the coordinator has been told of the owner's decision."""
    standing = read_standing(folder)
    if standing.state != "here" and not standing.told:
        write_standing(folder, replace(standing, told=True))


def moment(when: float) -> str:
    """Write a time as people do, in the zone in which all machines agree."""
    return time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(when))
