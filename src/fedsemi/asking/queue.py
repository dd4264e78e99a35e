"""The order in which a site's pictures are asked about, kept beside them.

It lies in the folder of the pictures, because it names them, and only its owner can
read it. The same model and rule go on with it; others begin a new one.
"""

from __future__ import annotations

import csv
import io
import json
from dataclasses import asdict, dataclass
from pathlib import Path

from fedsemi.data.safe_files import Refused, read_regular
from fedsemi.storage import write_whole
from fedsemi.text.json_text import parsed_object

FILE = ".fedsemi-ask.json"
_CAP = 16 << 20
"""Bytes; a queue of a hundred thousand pictures has less."""


@dataclass(frozen=True)
class Asked:
    """One picture of a queue, and what the model takes it for."""

    file: str
    guess: str
    sure: float

    def __post_init__(self) -> None:
        if not isinstance(self.file, str) or not isinstance(self.guess, str):
            raise TypeError("file and guess are text")


@dataclass(frozen=True)
class Queue:
    """Pictures in the order in which they are asked about."""

    model: str
    """SHA-256 of the model's file."""
    rule: str
    asked: tuple[Asked, ...] = ()
    skipped: tuple[str, ...] = ()

    def as_csv(self) -> bytes:
        """Write the order as CSV: place, file, guess, probability."""
        text = io.StringIO(newline="")
        writer = csv.writer(text)
        writer.writerow(["place", "file", "guess", "probability"])
        for place, each in enumerate(self.asked, start=1):
            writer.writerow([place, each.file, each.guess, f"{each.sure:.6f}"])
        return text.getvalue().encode("utf-8", "surrogateescape")


def write_queue(folder: Path, queue: Queue) -> None:
    """Keep a queue beside the pictures, for its owner's eyes."""
    text = json.dumps(asdict(queue), indent=1) + "\n"
    write_whole(folder / FILE, text.encode(), private=True)


def read_queue(folder: Path, model: str, rule: str) -> Queue:
    """Read the queue of a model and a rule; an empty one if there is none to go on."""
    try:
        content = parsed_object(read_regular(folder, FILE, _CAP))
        asked = tuple(Asked(**each) for each in content["asked"])
        skipped = tuple(str(file) for file in content["skipped"])
        found = Queue(content["model"], content["rule"], asked, skipped)
    except (Refused, ValueError, KeyError, TypeError):
        return Queue(model, rule)
    return found if (found.model, found.rule) == (model, rule) else Queue(model, rule)
