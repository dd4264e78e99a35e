"""[guard] and [alarms]: what is done about sites that lie, and means that hurt."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import Annotated, Literal

from pydantic import Field, with_config

from fedsemi.objectives.calibration import variance
from fedsemi.settings import STRICT, Count, Positive, Share, Whole

AtLeastOne = Annotated[float, Field(ge=1)]
GUARD_RULES = 2
"""Raised when the guard decides otherwise at the same settings: runs with it on get new
names, so that none is taken for one of an older guard."""


@with_config(STRICT)
@dataclass(frozen=True)
class GuardSettings:
    """[guard]: what is done about faulty and lying clients."""

    enabled: bool = False
    """On where sites are not all trusted: it changes shares, hence the method.

    Off by default, so that a simulated method is what it is called; what is deployed
    has it on unless its config says otherwise. The gate's checks are always on.
    """
    cap: AtLeastOne = 2.0
    """Largest share of one client in the unlabeled part, in fair shares.

    A fair share is one over the clients that have pseudo-labels in this round. The cap
    grows for a client while rounds that it was cut in do not hurt, and it spares what
    stems from classes that three clients or more have.
    """
    spread: Positive = 3.0
    """Diversities above median + spread * sigma of their class are cut to that."""
    norm_limit: AtLeastOne = 2.0
    """Longest step of a client, in medians of its peers' steps."""
    few_limit: AtLeastOne = 1.25
    """The same where fewer than three unlabeled clients answered: each then has much of
    the model, and the median is that of all clients, with labels or without."""
    jump_limit: AtLeastOne = 10.0
    """The same in medians of the labeled clients' steps, and of the last rounds'."""
    min_labeled: Whole = 1
    """Skip the round if fewer of the labeled clients that were asked have answered."""
    min_unlabeled: Whole = 0
    """The same for unlabeled clients."""


@with_config(STRICT)
@dataclass(frozen=True)
class AlarmSettings:
    """[alarms]: when to warn, and what to do when aggregation hurts."""

    action: Literal["warn", "lower-share", "roll-back"] = "warn"
    """Only warn; or take the mean again with less of the unlabeled; or not at all."""
    tolerance: Share = 0.05
    """Loss of held-out accuracy that is borne, as a share of one; two standard errors
    are borne if these are more, for a few images fall by chance."""
    patience: Count = 3
    """Rounds in a row until a warning."""
    calibration_error: Share = 0.2
    """Largest expected calibration error of a good warm-up."""

    def hurts(self, before: float, after: float, num: int, errors: float = 2.0) -> bool:
        """Tell whether accuracy on so many held-out images fell by more than is borne.

        At least so many standard errors are borne, too.

        >>> AlarmSettings().hurts(0.85, 0.73, num=1000)
        True
        >>> AlarmSettings().hurts(0.85, 0.73, num=33)  # two standard errors: 0.14
        False
        """
        error = sqrt(variance((before + after) / 2 * num, num))
        return before - after > max(self.tolerance, errors * error)
