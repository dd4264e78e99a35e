"""The sites that may enter, as the folder `enrolled` has them at this moment."""

from __future__ import annotations

import logging
from pathlib import Path

from starlette.types import Scope

from fedsemi.deployment.certificates import ENROLLED
from fedsemi.deployment.coordinator.front import Guests, Verdict
from fedsemi.deployment.coordinator.register import read_enrolled
from fedsemi.errors import ConfigError

logger = logging.getLogger("fedsemi.flower")


class EnrolledGuests(Guests):
    """Looks again whenever the folder has changed: a site was admitted, or retired."""

    def __init__(self, coordinator: Path) -> None:
        self._coordinator = coordinator
        self._seen = self._changed_at()
        super().__init__(read_enrolled(coordinator).values())

    def verdict(self, scope: Scope, now: float) -> Verdict:
        """Say whether a request is signed by a key that is enrolled now."""
        changed_at = self._changed_at()
        if changed_at != self._seen:
            try:
                super().__init__(read_enrolled(self._coordinator).values())
                self._seen = changed_at
            except ConfigError as error:  # a strange file lets nobody in, or out
                logger.warning("%s", error)
        return super().verdict(scope, now)

    def _changed_at(self) -> int:
        folder = self._coordinator / ENROLLED
        return folder.stat().st_mtime_ns if folder.exists() else 0
