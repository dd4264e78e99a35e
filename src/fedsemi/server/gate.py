"""The gate: every reply passes it before any method sees it, in every engine.

A bad reply is dropped and counted; it never ends a run. No honest reply is changed
here; what passes is handed to the guard, which may be off.

FS2101  entries are missing or unknown        FS2105  unreadable
FS2102  wrong shape or type                   FS2106  stale, twice, or not asked for
FS2103  not finite, or out of range           FS2110  seems not to learn (noted only)
FS2104  impossible count (cut if too large)   FS2112  quarantined after three drops
FS2201  too few replies, round skipped        FS2202  no confident pseudo-labels
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby

from fedsemi.flat import Flat
from fedsemi.messages import (
    Answer,
    ClientInfo,
    Failure,
    Task,
    Update,
    Weights,
)
from fedsemi.method import Statistic
from fedsemi.runs.records import GroupRecord, Notice, Rejection
from fedsemi.server.guard import Guard
from fedsemi.server.guard_state import Evidence, Verdict
from fedsemi.server.idleness import idle_noted
from fedsemi.server.replies import Refused, Reply, checked
from fedsemi.state import GateState
from fedsemi.weights import digest

STRIKES = 3
WINDOW = 20
"""So many drops within so many rounds put a client in quarantine."""
QUARANTINE = 20
"""Rounds that a quarantine lasts."""
MOST_SKIPS = 3
"""Rounds in a row that may be skipped before the run gives up."""


@dataclass(frozen=True)
class Check:
    """What the gate made of the replies to one plan."""

    updates: Sequence[Update]
    state: GateState
    asked: int
    dropped: tuple[Rejection, ...] = ()
    notices: tuple[Notice, ...] = ()
    quorum: bool = True
    kept: Mapping[int, float] = field(default_factory=dict)
    """Part of its share that the guard left to a client, where it is not all."""
    verdict: Verdict | None = None
    """What labeled clients reported of the model that went out, if it matters."""
    groups: tuple[GroupRecord, ...] = ()
    """What became of the sums of groups, under masks."""
    learned: bool = True
    """Whether clients were asked to learn, not only to measure something."""


@dataclass(frozen=True)
class Gate:
    """Holds settings, never state."""

    guard: Guard = field(default_factory=Guard)
    statistics: Mapping[str, Statistic] = field(default_factory=dict)
    """What the method's server step reads."""
    pseudo_labels: bool = False
    """Whether unlabeled clients count by pseudo-labels; a round without is noted."""
    evidence: Evidence = field(default_factory=Evidence)
    """What the guard holds replies against."""
    sees_models: bool = True
    """Whether replies bring models; under masks there is no step to look at."""
    due: Callable[[Task], Weights] = lambda task: task.weights
    """Which tensors of a task its answer brings back."""

    def admitted(self, tasks: Sequence[Task], state: GateState) -> Sequence[Task]:
        """Leave out the tasks of clients in quarantine."""
        until = dict(state.quarantine)
        return [task for task in tasks if until.get(task.client, 0) <= task.round]

    def check(
        self,
        tasks: Sequence[Task],
        updates: Iterable[Answer],
        clients: Sequence[ClientInfo],
        state: GateState,
    ) -> Check:
        """Drop bad replies, let the guard bound the others, say if enough are left.

        Args:
            tasks: All that the method planned, quarantined clients included.
            updates: The replies in any order; each is looked at as it comes.
            clients: The register.
            state: What the gate remembers.
        """
        infos = {client.id: client for client in clients}
        round = tasks[0].round if tasks else 0
        replies, dropped = self._sifted(self.admitted(tasks, state), updates, infos)
        dropped = [replace(each, round=round) for each in dropped]
        learned = all(self.due(task) is task.weights for task in tasks)
        watched = replies if self.sees_models and learned else []
        state, idle = idle_noted(state, watched, round)
        state, jailed = _judged(state, dropped, round)
        rule = self.guard.rule if learned else self.guard.rule_measured
        ruling = rule(replies, state.guard, self.evidence)
        passed = [reply.update for reply in ruling.replies]
        quorum = self._quorum(tasks, passed, infos)
        told = self._of_round(tasks, passed, quorum, learned)
        return Check(
            passed,
            replace(_counted(state, quorum), guard=ruling.state),
            len(tasks),
            tuple(dropped),
            (*ruling.notices, *_inflated(replies), *idle, *jailed, *told),
            quorum,
            ruling.kept,
            ruling.verdict,
            learned=learned,
        )

    def _sifted(
        self,
        tasks: Sequence[Task],
        updates: Iterable[Answer],
        infos: Mapping[int, ClientInfo],
    ) -> tuple[list[Reply], list[Rejection]]:
        """Keep one good reply per task, in canonical order."""
        asked = {(task.group, task.client): task for task in self._flat(tasks)}
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
                whole = self.sees_models
                good.append(checked(update, task, info, self.statistics, whole))
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

    def _flat(self, tasks: Sequence[Task]) -> Iterator[Task]:
        """Lay what is due as one vector; most tasks share one model."""
        known: dict[tuple[int, int | None], Flat] = {}
        for task in tasks:
            due = self.due(task)
            # What is due of a part of the model depends on what the group measures.
            key = id(task.weights), None if due is task.weights else task.group
            if key not in known:
                known[key] = Flat.of(due)
            yield replace(task, weights=known[key])

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
        self,
        tasks: Sequence[Task],
        passed: Sequence[Update],
        quorum: bool,
        learned: bool,
    ) -> Iterator[Notice]:
        round = tasks[0].round if tasks else 0
        if not quorum:
            reason = f"{len(passed)} of {len(tasks)} replies, none or too few labeled; "
            yield Notice(None, round, "FS2201", f"{reason}model unchanged")
        holders = [update for update in passed if update.num_unlabeled]
        silent = holders and not any(update.num_pseudo for update in holders)
        if self.pseudo_labels and learned and silent:
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


def _inflated(replies: Sequence[Reply]) -> list[Notice]:
    reason = "claimed more samples than it has"
    return [
        Notice(reply.info.id, reply.task.round, "FS2104", reason)
        for reply in replies
        if reply.inflated
    ]


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
