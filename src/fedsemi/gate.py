"""The gate: every reply passes it before any method sees it, in every engine.

A bad reply is dropped and counted; it never ends a run. What passes is bounded: steps
that are far longer than those of the others are shortened.

FS2101  entries are missing or unknown        FS2106  stale, twice, or not asked for
FS2102  wrong shape or type                   FS2107  step too long (shortened)
FS2103  not finite, or out of range           FS2109  share capped
FS2104  impossible count (cut if too large)   FS2110  seems not to learn (noted only)
FS2105  unreadable                            FS2112  quarantined after three drops
FS2201  too few replies, round skipped        FS2202  no confident pseudo-labels
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby

import torch

from fedsemi.guard import Guard, clip_scales
from fedsemi.idleness import idle_clients
from fedsemi.messages import Answer, ClientInfo, Failure, Task, Update
from fedsemi.replies import Refused, Reply, Statistic, checked
from fedsemi.weights import digest

STRIKES = 3
WINDOW = 20
"""So many drops within so many rounds put a client in quarantine."""
QUARANTINE = 20
"""Rounds that a quarantine lasts."""
IDLE_ROUNDS = 5
"""Rounds in a row without learning after which a client is noted."""
MOST_SKIPS = 3
"""Rounds in a row that may be skipped before the run gives up."""


@dataclass(frozen=True)
class Notice:
    """Something that the gate saw; `client` is None if it concerns the round."""

    client: int | None
    round: int
    code: str
    reason: str

    def __str__(self) -> str:
        who = "" if self.client is None else f"client {self.client} "
        return f"{self.code} round {self.round + 1}: {who}{self.reason}"


@dataclass(frozen=True)
class Rejection(Notice):
    """A notice whose reply was dropped."""


@dataclass(frozen=True)
class GateState:
    """What the gate remembers from round to round; part of the server's state."""

    strikes: tuple[tuple[int, int], ...] = ()
    """(client, round) of the last rounds in which a reply was dropped."""
    quarantine: tuple[tuple[int, int], ...] = ()
    """(client, first round in which it is asked again)."""
    idle: tuple[tuple[int, int], ...] = ()
    """(client, rounds in a row without learning)."""
    skipped: int = 0
    """Rounds skipped in a row."""


@dataclass(frozen=True)
class Check:
    """What the gate made of the replies to one plan."""

    updates: Sequence[Update]
    state: GateState
    asked: int
    dropped: tuple[Rejection, ...] = ()
    notices: tuple[Notice, ...] = ()
    quorum: bool = True


@dataclass(frozen=True)
class Gate:
    """Holds settings, never state."""

    guard: Guard = field(default_factory=Guard)
    statistics: Mapping[str, Statistic] = field(default_factory=dict)
    """What the method's server step reads."""
    pseudo_labels: bool = False
    """Whether unlabeled clients count by pseudo-labels; a round without is noted."""

    def admitted(self, tasks: Sequence[Task], state: GateState) -> Sequence[Task]:
        """Leave out the tasks of clients in quarantine."""
        until = dict(state.quarantine)
        return [task for task in tasks if until.get(task.client, 0) <= task.round]

    def check(
        self,
        tasks: Sequence[Task],
        updates: Sequence[Answer],
        clients: Sequence[ClientInfo],
        state: GateState,
    ) -> Check:
        """Drop bad replies, bound the others, and say whether enough are left.

        Args:
            tasks: All that the method planned, quarantined clients included.
            updates: The replies in any order.
            clients: The register.
            state: What the gate remembers.
        """
        infos = {client.id: client for client in clients}
        if not self.guard.enabled:
            passed = sorted((u for u in updates if isinstance(u, Update)), key=_place)
            quorum = self._quorum(tasks, passed, infos)
            return Check(passed, _counted(state, quorum), len(tasks), quorum=quorum)
        round = tasks[0].round if tasks else 0
        replies, dropped = self._sifted(self.admitted(tasks, state), updates, infos)
        dropped = [replace(each, round=round) for each in dropped]
        state, idle = _watched(state, replies, round)
        state, jailed = _judged(state, dropped, round)
        replies, bounded = self._bounded(replies, round)
        passed = [reply.update for reply in replies]
        quorum = self._quorum(tasks, passed, infos)
        of_round = self._of_round(tasks, passed, quorum, round)
        notices = (*bounded, *idle, *jailed, *of_round)
        state = _counted(state, quorum)
        return Check(passed, state, len(tasks), tuple(dropped), notices, quorum)

    def _sifted(
        self,
        tasks: Sequence[Task],
        updates: Sequence[Answer],
        infos: Mapping[int, ClientInfo],
    ) -> tuple[list[Reply], list[Rejection]]:
        """Keep one good reply per task, in canonical order."""
        asked = {(task.group, task.client): task for task in tasks}
        good, dropped = list[Reply](), list[Rejection]()
        for update in updates:
            if isinstance(update, Failure):
                dropped.append(Rejection(update.client, 0, update.code, update.reason))
                continue
            try:
                task = asked.get(_place(update))
                if task is None:
                    raise Refused("FS2106", "was not asked for this")
                info = infos[task.client]
                good.append(checked(update, task, info, self.statistics))
            except Refused as refused:
                known = type(update.client) is int and update.client in infos
                client = update.client if known else None
                dropped.append(Rejection(client, 0, refused.code, refused.reason))
        good.sort(key=lambda reply: _place(reply.update))
        kept = list[Reply]()
        for _, same in groupby(good, key=lambda reply: _place(reply.update)):
            first, *rest = _canonical(list(same))
            kept.append(first)
            dropped += [
                Rejection(each.info.id, 0, "FS2106", "answered twice") for each in rest
            ]
        return kept, sorted(dropped, key=str)

    def _bounded(
        self, replies: Sequence[Reply], round: int
    ) -> tuple[list[Reply], list[Notice]]:
        """Shorten steps that stand out among the labeled or the unlabeled clients."""
        scales = [1.0] * len(replies)
        for labeled in (True, False):
            peers = [
                i for i, r in enumerate(replies) if bool(r.info.num_labeled) is labeled
            ]
            norms = torch.tensor([replies[i].norm for i in peers], dtype=torch.double)
            limits = clip_scales(norms, self.guard.norm_limit).tolist()
            for i, scale in zip(peers, limits, strict=True):
                scales[i] = scale
        notices = [
            Notice(reply.info.id, round, "FS2107", f"step shortened to {scale:.1%}")
            for reply, scale in zip(replies, scales, strict=True)
            if scale < 1
        ] + [
            Notice(reply.info.id, round, "FS2104", "claimed more samples than it has")
            for reply in replies
            if reply.inflated
        ]
        short = [_shortened(r, s) for r, s in zip(replies, scales, strict=True)]
        return short, notices

    def _quorum(
        self,
        tasks: Sequence[Task],
        passed: Sequence[Update],
        infos: Mapping[int, ClientInfo],
    ) -> bool:
        asked = {task.client for task in tasks}
        heard = {update.client for update in passed} & asked
        if asked and not heard:
            return False
        labeled = {client for client in asked if infos[client].num_labeled}
        needs = (
            (labeled, self.guard.min_labeled),
            (asked - labeled, self.guard.min_unlabeled),
        )
        return all(len(heard & part) >= min(least, len(part)) for part, least in needs)

    def _of_round(
        self, tasks: Sequence[Task], passed: Sequence[Update], quorum: bool, round: int
    ) -> Iterator[Notice]:
        if not quorum:
            reason = f"{len(passed)} of {len(tasks)} replies, none or too few labeled; "
            yield Notice(None, round, "FS2201", f"{reason}model unchanged")
        holders = [update for update in passed if update.num_unlabeled]
        silent = holders and not any(update.num_pseudo for update in holders)
        if self.pseudo_labels and silent:
            reason = "no client passed the confidence threshold; labels only"
            yield Notice(None, round, "FS2202", reason)


def _place(update: Update) -> tuple[int, int]:
    for number in (update.group, update.client):
        if type(number) is not int:
            raise Refused("FS2106", "names no client")
    return update.group, update.client


def _canonical(same: list[Reply]) -> list[Reply]:
    """Order replies to one task by content, so that arrival decides nothing."""
    if len(same) == 1:
        return same
    return sorted(same, key=lambda reply: digest(reply.update.weights))


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


def _watched(
    state: GateState, replies: Sequence[Reply], round: int
) -> tuple[GateState, list[Notice]]:
    """Count the rounds in which a client did not learn."""
    before, idle = dict(state.idle), idle_clients(replies)
    heard = {reply.info.id for reply in replies}
    counts = {id: n for id, n in before.items() if id not in heard}
    counts |= {id: before.get(id, 0) + 1 for id in idle}
    notices = [
        Notice(id, round, "FS2110", f"has not learned for {counts[id]} rounds")
        for id in sorted(idle)
        if counts[id] >= IDLE_ROUNDS
    ]
    return replace(state, idle=tuple(sorted(counts.items()))), notices


def _judged(
    state: GateState, dropped: Sequence[Rejection], round: int
) -> tuple[GateState, list[Notice]]:
    """Note a strike a round; three within the window put a client in quarantine."""
    fresh = {(d.client, round) for d in dropped if d.client is not None}
    recent = {strike for strike in state.strikes if strike[1] > round - WINDOW}
    strikes = sorted(recent | fresh)
    until = {id: end for id, end in state.quarantine if end > round}
    struck = sorted({id for id, _ in fresh})
    jailed = [id for id in struck if sum(s[0] == id for s in strikes) >= STRIKES]
    until |= {id: round + 1 + QUARANTINE for id in jailed}
    strikes = [s for s in strikes if s[0] not in jailed]
    notices = [
        Notice(id, round, "FS2112", f"is not asked for {QUARANTINE} rounds")
        for id in jailed
    ]
    quarantine = tuple(sorted(until.items()))
    return replace(state, strikes=tuple(strikes), quarantine=quarantine), notices


def _counted(state: GateState, quorum: bool) -> GateState:
    return replace(state, skipped=0 if quorum else state.skipped + 1)


def cap_notices(
    clients: Sequence[ClientInfo], contributions: Mapping[int, float], round: int
) -> tuple[Notice, ...]:
    """Say who hit the share cap: shares sum to less than one only then."""
    left = 1 - sum(contributions.values())
    unlabeled = [client.id for client in clients if not client.num_labeled]
    if not 1e-6 < left < 1 or not unlabeled:
        return ()
    top = max(unlabeled, key=lambda id: contributions.get(id, 0.0))
    share = contributions.get(top, 0.0)
    reason = f"claimed up to {share + left:.1%} of the mean, capped at {share:.1%}"
    return (Notice(top, round, "FS2109", reason),)
