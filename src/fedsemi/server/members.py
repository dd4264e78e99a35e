"""Who takes part in a round: sites come, go, and are away for a while.

A client that comes is asked from then on. One that is away keeps its memory and has no
share meanwhile; one that has left for good is forgotten.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from fedsemi.config.membership import Member, absent
from fedsemi.engine import Absence, Engine, WrappedEngine
from fedsemi.messages import ClientInfo
from fedsemi.runs.records import Notice
from fedsemi.state import S

CAME, LEFT, AWAY = "FS5043", "FS5041", "FS5042"


class Scheduled(WrappedEngine):
    """An engine some of whose clients take no part in all rounds, as was planned."""

    def __init__(self, engine: Engine, members: Sequence[Member], before: int) -> None:
        """Make one.

        Args:
            engine: Who carries tasks out.
            members: Who takes part when, in rounds over all stages.
            before: How many rounds earlier stages have.
        """
        super().__init__(engine)
        self._members = members
        self._before = before

    def absent(self, round: int) -> Mapping[int, Absence]:
        """Say who takes no part in a round of this stage, counted from zero."""
        planned = absent(self._members, self._before + round + 1)
        return {**planned, **self.engine.absent(round)}


def present(engine: Engine, round: int) -> Sequence[ClientInfo]:
    """List the clients that take part in a round."""
    away = engine.absent(round)
    return [client for client in engine.clients() if client.id not in away]


def joined(state: S, clients: Sequence[ClientInfo]) -> S:
    """Take in clients that have come since; those who are known stay as they are."""
    known = {client.id: client for client in state.clients}
    merged = {client.id: client for client in clients} | known
    if len(merged) == len(known):
        return state
    return replace(state, clients=tuple(merged[id] for id in sorted(merged)))


def with_members(
    state: S, clients: Sequence[ClientInfo], absences: Mapping[int, Absence]
) -> tuple[S, tuple[Notice, ...]]:
    """Begin a round with those who take part in it, and say what has changed."""
    before = {client.id for client in state.clients}
    here = joined(state, [each for each in clients if each.id not in absences])
    staying = tuple(each for each in here.clients if each.id not in absences)
    after = {client.id for client in staying}
    notices = [
        Notice(each.id, state.round, CAME, _said(each, each.id in state.away))
        for each in staying
        if each.id not in before
    ]
    for id in sorted(before - after):
        code = LEFT if absences[id].for_good else AWAY
        notices.append(Notice(id, state.round, code, absences[id].reason))
    if not notices and not state.away:
        return state, ()
    waiting = (before | set(state.away)) - after
    away = sorted(
        id for id in waiting if id not in absences or not absences[id].for_good
    )
    return replace(here, clients=staying, away=tuple(away)), tuple(notices)


def _said(client: ClientInfo, again: bool) -> str:
    counts = f"{client.num_labeled} labeled, {client.num_unlabeled} unlabeled images"
    return f"{'is back' if again else 'has joined'}: {counts}"
