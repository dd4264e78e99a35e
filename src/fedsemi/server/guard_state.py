"""What the guard remembers, and how it judges a model by what was reported of it."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, Protocol

from torch import Tensor

from fedsemi.config.protection import AlarmSettings
from fedsemi.messages import ClientInfo, Update
from fedsemi.server.outliers import lower_median
from fedsemi.server.replies import Reply
from fedsemi.state import GuardState

WINDOW = 20
"""So many medians of steps are remembered."""
EARNED = 1.5
"""By this a client's cap grows after a round that cut it and did not hurt."""
RECOVERY = 1.25
"""By this unlabeled steps grow again after a model that hurt nobody; they were halved.

Slower than it falls, as in the congestion control of networks: an attack that goes on
then meets short steps most of the time."""

ERRORS = 3.0
"""So many standard errors must a model be worse by to be left: it is held against the
best of many rounds, below which chance alone brings a model by two of them."""
Verdict = Literal["best", "worse"]


class Walked(Protocol):
    """Who has gone how far: a client's reply, or a group of clients under masks."""

    @property
    def info(self) -> ClientInfo:
        """Who it is, and whether it has labels."""
        ...

    @property
    def norm(self) -> float:
        """Length of the step."""
        ...


@dataclass(frozen=True)
class Stride:
    """Just that."""

    info: ClientInfo
    norm: float


@dataclass(frozen=True)
class Evidence:
    """What the guard may hold replies against, as far as the server has it."""

    shares: Callable[[Sequence[Update]], Tensor] | None = None
    """The method's shares of the mean, if claims of diversity decide them."""
    held_out: Callable[[Sequence[Update]], tuple[float, int] | None] = lambda _: None
    """Accuracy of the model that went out, and of how many images: labeled clients
    report it."""
    alarms: AlarmSettings = field(default_factory=AlarmSettings)
    """When a held-out accuracy is worse than another one."""


def judged(
    state: GuardState, replies: Sequence[Reply], evidence: Evidence
) -> tuple[GuardState, Verdict | None]:
    """Compare the model that went out in this round with the best one so far."""
    round = replies[0].task.round
    trusted = [reply.update for reply in replies if reply.info.num_labeled]
    found = evidence.held_out(trusted)
    if found is None or round == state.judged:
        return state, None
    accuracy, num = found
    state = replace(state, judged=round)
    best = accuracy if state.best is None else state.best
    if evidence.alarms.hurts(best, accuracy, num, ERRORS):
        caution = state.caution / 2
        return replace(state, trust=(), capped=(), caution=caution), "worse"
    trust = dict(state.trust)
    trust |= {id: trust.get(id, 1.0) * EARNED for id in state.capped}
    caution = min(1.0, state.caution * RECOVERY)
    state = replace(
        state, trust=tuple(sorted(trust.items())), capped=(), caution=caution
    )
    if accuracy < best:
        return state, None
    return replace(state, best=accuracy), "best"


def steps_of(replies: Sequence[Walked], labeled: bool) -> tuple[float, ...]:
    """Return one step for each client, however often it was asked; none if unmoved."""
    found: dict[int, list[float]] = {}
    for reply in replies:
        if bool(reply.info.num_labeled) is labeled and reply.norm:
            found.setdefault(reply.info.id, []).append(reply.norm)
    return tuple(median_step(steps) for steps in found.values())


def median_step(steps: Sequence[float]) -> float:
    """Return the lower median; without any step there is nothing to exceed."""
    return lower_median(steps) or math.inf


def remembering(
    state: GuardState, replies: Sequence[Walked], scales: Sequence[float]
) -> GuardState:
    """Add the steps of a check, as far as clients were let go."""
    went = [
        Stride(reply.info, reply.norm * scale)
        for reply, scale in zip(replies, scales, strict=True)
    ]
    labeled = steps_of(went, True)
    everybody = labeled + steps_of(went, False)
    return replace(
        state,
        steps=_longer(state.steps, everybody),
        labeled_steps=_longer(state.labeled_steps, labeled),
    )


def _longer(medians: tuple[float, ...], steps: Sequence[float]) -> tuple[float, ...]:
    return (*medians, median_step(steps))[-WINDOW:] if steps else medians
