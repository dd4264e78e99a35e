"""The guard where masks hide single clients: it compares the sums of groups.

The mean step of a group is held against those of the others as a client's step is
without masks. A sum hides whose step was too long. Shortened to the limit, it would let
who lied go on with the weight of the whole group, the honest ones' included. So the
longer it is the less is left: a step of twice the limit goes half of the limit.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from fedsemi.messages import ClientInfo
from fedsemi.runs.records import GROUP_CUT, Cut, GroupRecord, Notice
from fedsemi.server.guard import Guard
from fedsemi.server.guard_state import Stride, remembering
from fedsemi.state import GroupSum, GuardState

_ROUNDING = 1e-6
"""Of any number in a sum, whose parts are rounded to 24 binary places."""


@dataclass(frozen=True)
class Compared:
    """What the guard made of the sums of groups."""

    records: tuple[GroupRecord, ...]
    state: GuardState
    notices: tuple[Notice, ...] = ()

    @property
    def parts(self) -> list[float]:
        """What is left of each."""
        return [record.part for record in self.records]


def compare(
    guard: Guard, sums: Sequence[GroupSum], state: GuardState, round: int
) -> Compared:
    """Say what of each group's sum the model may be moved by; all, if the guard is off.

    No group counts as one with labels, for anybody may be in it: all are held against
    each other, and against those of earlier rounds. Groups without a share have nothing
    to compare; with a share that cannot be, they go nowhere.
    """
    norms = [mean_step(each) for each in sums]
    strides = {
        place: Stride(ClientInfo(place, 0, 0), norm)
        for place, norm in enumerate(norms)
        if norm is not None and math.isfinite(norm)
    }
    limits = dict(zip(strides, guard.limits([*strides.values()], state), strict=True))
    parts = [
        _part(norm, limits.get(place, 0.0)) if guard.enabled else 1.0
        for place, norm in enumerate(norms)
    ]
    records = tuple(map(_recorded, sums, norms, parts))
    if not guard.enabled:
        return Compared(records, state, tuple(_told_lost(records, round)))
    let_go = [parts[place] for place in strides]
    return Compared(
        records,
        remembering(state, [*strides.values()], let_go),
        (*_told_lost(records, round), *_told_cuts(records, limits, round)),
    )


def mean_step(sum: GroupSum) -> float | None:
    """Return the length of a group's mean step; None of one that has no share.

    Shares of a mean come to one at most. Whoever says more would seem to go less far.
    """
    length = float(np.linalg.norm(sum.step))
    if abs(sum.share) <= _ROUNDING and length <= _ROUNDING * math.sqrt(len(sum.step)):
        return None
    if not _ROUNDING < sum.share <= 1 + _ROUNDING:
        return math.inf
    return length / sum.share


def _part(norm: float | None, limit: float) -> float:
    if not norm:
        return 1.0
    return min(1.0, limit / norm) ** 2


def _recorded(sum: GroupSum, norm: float | None, part: float) -> GroupRecord:
    return GroupRecord(
        clients=sum.clients,
        summed=sum.summed,
        share=sum.share,
        step=norm if norm is not None and math.isfinite(norm) else None,
        part=part if sum.summed else 0.0,
    )


def _told_lost(records: Sequence[GroupRecord], round: int) -> Iterator[Notice]:
    for number, record in enumerate(records, start=1):
        if not record.summed:
            reason = f"{record.named(number)} is not summed: too few of it are left"
            yield Notice(None, round, "FS6021", reason)


def _told_cuts(
    records: Sequence[GroupRecord], limits: dict[int, float], round: int
) -> Iterator[Cut]:
    for place, record in enumerate(records):
        if not record.summed or record.part == 1:
            continue
        why = (
            "has shares that cannot be"
            if record.step is None
            else f"went {record.step:.3g}, and {limits[place]:.3g} is the limit"
        )
        left = f"{record.part:.1%} of its step is left"
        reason = f"{record.named(place + 1)} {why}; {left}"
        yield Cut(None, round, GROUP_CUT, reason, record.part)
