"""The guard: how far one client without labels may pull the mean, whatever it sends.

A layer of its own between the gate, which refuses what is no reply, and the method. It
changes what looks honest: it shortens steps, cuts claims and shares, and returns to an
older model when labeled sites find that the new one is worse. Off, it does nothing.

It bounds lies; it cannot find them. docs/robustness.md says what stays undefended.

FS2107  step too long (shortened)             FS2141  model returned to an older one
FS2109  share above the cap (cut)             FS2142  unlabeled steps held back after it
FS2140  claims that stand out (cut)           FS2143  step of a group too long (cut)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Self

import torch
from torch import Tensor

from fedsemi.config.protection import GuardSettings
from fedsemi.messages import DIVERSITY
from fedsemi.runs.records import Cut
from fedsemi.server.guard_state import (
    Evidence,
    Verdict,
    Walked,
    judged,
    median_step,
    remembering,
    steps_of,
)
from fedsemi.server.outliers import LEAST_PEERS, confirmed, peers, winsorized
from fedsemi.server.replies import Reply
from fedsemi.state import GuardState


@dataclass(frozen=True)
class Ruling:
    """What the guard made of the replies of one check."""

    replies: Sequence[Reply]
    state: GuardState
    notices: tuple[Cut, ...] = ()
    kept: Mapping[int, float] = field(default_factory=dict)
    """Part of its share that a client keeps, where it is not all of it."""
    verdict: Verdict | None = None
    """Whether the model that went out is the best so far, or worse and to be left."""


@dataclass(frozen=True)
class Guard(GuardSettings):
    """The settings at work; what the guard remembers is in the gate's state."""

    sees_steps: bool = True
    """Whether there are single steps to bound; if not, only models are judged."""

    @classmethod
    def of(cls, settings: GuardSettings) -> Self:
        """Make the guard that a config asks for."""
        return cls(**vars(settings))

    def rule(
        self, replies: Sequence[Reply], state: GuardState, evidence: Evidence
    ) -> Ruling:
        """Judge the model that went out, then bound the replies to it."""
        if not self.enabled or not replies:
            return Ruling(replies, state)
        state, verdict = judged(state, replies, evidence)
        if verdict == "worse":
            told = _told_return(state, replies[0].task.round)
            return Ruling(replies, state, tuple(told), verdict=verdict)
        if not self.sees_steps:
            return Ruling(replies, state, verdict=verdict)
        return replace(self._bounded(replies, state, evidence), verdict=verdict)

    def rule_measured(
        self, replies: Sequence[Reply], state: GuardState, evidence: Evidence
    ) -> Ruling:
        """Bound what clients measured by what others did in the same phase.

        The length of a step that learns says nothing of it, nor it of later steps.
        """
        if not self.enabled or not replies:
            return Ruling(replies, state)
        apart = replace(state, steps=(), labeled_steps=())
        return replace(self._bounded(replies, apart, evidence), state=state)

    def _bounded(
        self, replies: Sequence[Reply], state: GuardState, evidence: Evidence
    ) -> Ruling:
        limits = self.limits(replies, state)
        steps = [
            min(1.0, limit / reply.norm) if reply.norm else 1.0
            for reply, limit in zip(replies, limits, strict=True)
        ]
        trimmed = self._trimmed(replies)
        shares = self._kept_shares(trimmed, state, evidence)
        capped = {id: part for id, part in shares.items() if part < 1}
        kept = {id: part * state.caution for id, part in shares.items()}
        bounded = [
            _shortened(reply, step * kept.get(reply.info.id, 1.0))
            for reply, step in zip(trimmed, steps, strict=True)
        ]
        round = replies[0].task.round
        told = (
            *_told_claims(replies, trimmed, round),
            *_told_steps(replies, steps, round),
            *_told_shares(capped, round),
            *_told_caution(state.caution, round),
        )
        state = replace(remembering(state, replies, steps), capped=tuple(capped))
        cut = {id: part for id, part in kept.items() if part < 1}
        return Ruling(bounded, state, told, cut)

    def _trimmed(self, replies: Sequence[Reply]) -> list[Reply]:
        """Cut the diversities that stand out in their class."""
        places = [i for i, r in enumerate(replies) if _claims(r)]
        trimmed = list(replies)
        if places:
            rows = _diversities([replies[i] for i in places])
            cut = winsorized(rows.double(), self.spread).to(rows.dtype)
            for i, old, new in zip(places, rows, cut, strict=True):
                if not torch.equal(old, new):
                    trimmed[i] = _claiming(replies[i], new)
        return trimmed

    def limits(self, replies: Sequence[Walked], state: GuardState) -> list[float]:
        """Return the longest step that each reply, or group of them, may make."""
        unlabeled, labeled = steps_of(replies, False), steps_of(replies, True)
        # Labeled clients that are not asked in this phase have a vote all the same.
        trusted = labeled or state.labeled_steps[-1:]
        few = unlabeled + trusted if _enough(unlabeled + trusted) else ()
        far = (*state.labeled_steps, *labeled), state.steps
        limits = [
            self.norm_limit * median_step(unlabeled)
            if _enough(unlabeled)
            else self.few_limit * median_step(few)
        ]
        limits += [self.jump_limit * median_step(steps) for steps in far]
        if len({reply.info.id for reply in replies}) > 2 * len(unlabeled + labeled):
            limits = [0.0]  # most stood still: this was no round to learn in
        own = self.norm_limit * median_step(labeled if _enough(labeled) else ())
        return [own if reply.info.num_labeled else min(limits) for reply in replies]

    def _kept_shares(
        self, replies: Sequence[Reply], state: GuardState, evidence: Evidence
    ) -> dict[int, float]:
        """Return which part of its share each unlabeled client may keep."""
        unlabeled = [i for i, reply in enumerate(replies) if not reply.info.num_labeled]
        kept = {replies[i].info.id: 1.0 for i in unlabeled}
        # Who has no image at all need not send any.
        places = [i for i in unlabeled if DIVERSITY in replies[i].update.statistics]
        if evidence.shares is None or not places:
            return kept
        ids = [replies[i].info.id for i in places]
        shares = evidence.shares([reply.update for reply in replies])[places]
        rows = _diversities([replies[i] for i in places]).double()
        trust = torch.tensor([dict(state.trust).get(id, 1.0) for id in ids])
        fair = self.cap * trust.double() / peers(rows)
        allowed = shares.sum() * torch.maximum(fair, confirmed(rows))
        parts = torch.where(shares > allowed, allowed / shares, 1.0)
        return kept | dict(zip(ids, parts.tolist(), strict=True))


def _enough(steps: Sequence[float]) -> bool:
    return len(steps) >= LEAST_PEERS


def _claims(reply: Reply) -> bool:
    update = reply.update
    return bool(update.num_unlabeled) and DIVERSITY in update.statistics


def _diversities(replies: Sequence[Reply]) -> Tensor:
    return torch.stack([reply.update.statistics[DIVERSITY] for reply in replies])


def _claiming(reply: Reply, diversity: Tensor) -> Reply:
    statistics = {**reply.update.statistics, DIVERSITY: diversity}
    return replace(reply, update=replace(reply.update, statistics=statistics))


def _shortened(reply: Reply, scale: float) -> Reply:
    if scale == 1:
        return reply
    old, new = reply.task.weights, reply.update.weights
    weights = {
        key: torch.lerp(old[key], new[key], scale)
        if old[key].is_floating_point()
        else new[key]
        for key in old
    }
    return replace(reply, update=replace(reply.update, weights=weights))


def _told_claims(
    replies: Sequence[Reply], trimmed: Sequence[Reply], round: int
) -> Iterator[Cut]:
    for old, new in zip(replies, trimmed, strict=True):
        if new is not old:
            before, after = _diversities([old]), _diversities([new])
            changed = int((before != after).sum())
            reason = f"claims of diversity cut in {changed} classes"
            part = float(after.sum() / before.sum())
            yield Cut(old.info.id, round, "FS2140", reason, part)


def _told_steps(
    replies: Sequence[Reply], steps: Sequence[float], round: int
) -> Iterator[Cut]:
    for reply, part in zip(replies, steps, strict=True):
        if part < 1:
            reason = f"step shortened to {part:.1%}"
            yield Cut(reply.info.id, round, "FS2107", reason, part)


def _told_shares(capped: Mapping[int, float], round: int) -> Iterator[Cut]:
    for client, part in capped.items():
        reason = f"share of the mean cut to {part:.1%} of what it claimed"
        yield Cut(client, round, "FS2109", reason, part)


def _told_return(state: GuardState, round: int) -> Iterator[Cut]:
    reason = f"held-out accuracy fell far below {state.best:.1%}; back to that model"
    yield Cut(None, round, "FS2141", reason, part=0.0)


def _told_caution(caution: float, round: int) -> Iterator[Cut]:
    if caution < 1:
        reason = f"unlabeled clients go {caution:.1%} of their steps"
        yield Cut(None, round, "FS2142", reason, caution)
