"""The sites that may enter, as the folder `enrolled` has them at this moment."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePublicKey
from flwr.supercore.primitives.asymmetric import public_key_to_bytes
from starlette.types import Scope

from fedsemi.deployment.certificates import ENROLLED
from fedsemi.deployment.coordinator.front import Guests, Verdict
from fedsemi.deployment.coordinator.register import read_enrolled, read_key
from fedsemi.errors import ConfigError

logger = logging.getLogger("fedsemi.flower")
_File = tuple[str, int, int, int]
"""Its name, when it was written and changed, and its size."""


class EnrolledGuests(Guests):
    """Looks again whenever a key was added, taken away or overwritten."""

    def __init__(self, coordinator: Path) -> None:
        self._folder = coordinator / ENROLLED
        self._seen = self._files()
        super().__init__(read_enrolled(coordinator).values())

    def verdict(self, scope: Scope, now: float) -> Verdict:
        """Say whether a request is signed by a key that is enrolled now."""
        seen = self._files()
        if seen != self._seen:
            self._seen = seen  # what is wrong is told once, not with every request
            try:
                super().__init__(read_enrolled(self._folder.parent).values())
            except ConfigError as error:  # a strange file lets nobody in
                logger.warning("%s", error)
                super().__init__(list(self._still_there()))
        return super().verdict(scope, now)

    def _still_there(self) -> Iterator[EllipticCurvePublicKey]:
        """Find keys that were welcome and still lie in the folder."""
        for path in self._folder.glob("*.pub"):
            with suppress(ConfigError):
                key = read_key(path)
                if public_key_to_bytes(key) in self._keys:
                    yield key

    def _files(self) -> frozenset[_File]:
        """Say which files of keys there are, and when each one was written."""
        found = set[_File]()
        with suppress(FileNotFoundError), os.scandir(self._folder) as entries:
            for entry in entries:
                if entry.name.endswith(".pub"):
                    found.add((entry.name, *_stamp(entry)))
        return frozenset(found)


def _stamp(entry: os.DirEntry[str]) -> tuple[int, int, int]:
    try:
        about = entry.stat()
    except OSError:  # it is being taken away, or a link that leads nowhere
        return 0, 0, 0
    return about.st_mtime_ns, about.st_ctime_ns, about.st_size
