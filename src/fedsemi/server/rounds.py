"""The federated round: the one loop that every method and engine runs through."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Generic, cast

from fedsemi.engine import Engine
from fedsemi.errors import ProtocolError, RoundFailed
from fedsemi.messages import Answer, Task, Update
from fedsemi.method import Method
from fedsemi.runs.records import GroupRecord, Notice, Rejection
from fedsemi.server.gate import MOST_SKIPS, Check, Gate
from fedsemi.server.group_guard import compare
from fedsemi.server.guard import Guard
from fedsemi.server.members import with_members
from fedsemi.state import S, ServerState
from fedsemi.weights import num_bytes


@dataclass(frozen=True)
class Round(Generic[S]):
    """What one round left behind."""

    state: S
    checks: Sequence[Check]
    """What the gate made of the answers, one for each phase of the method."""
    changes: tuple[Notice, ...] = ()
    """Who came and went before it."""

    @property
    def updates(self) -> list[Update]:
        """The answers that were used, or would have been in a round of more."""
        return [update for check in self.checks for update in check.updates]

    @property
    def learned(self) -> list[Update]:
        """Those of them whose clients were asked to learn."""
        return [u for check in self.checks if check.learned for u in check.updates]

    @property
    def sent(self) -> dict[int, int]:
        """Bytes of all tensors in a client's answers, by id."""
        sent: dict[int, int] = {}
        for update in self.updates:
            size = num_bytes(update.weights) + num_bytes(update.statistics)
            sent[update.client] = sent.get(update.client, 0) + size
        return sent

    @property
    def asked(self) -> int:
        """How many answers the method planned for."""
        return sum(check.asked for check in self.checks)

    @property
    def dropped(self) -> tuple[Rejection, ...]:
        """The answers that the gate refused."""
        return tuple(each for check in self.checks for each in check.dropped)

    @property
    def notices(self) -> tuple[Notice, ...]:
        """Who came and went, what else the gate saw, and what the guard did."""
        seen = tuple(each for check in self.checks for each in check.notices)
        return (*self.changes, *seen)

    @property
    def groups(self) -> tuple[GroupRecord, ...]:
        """What became of the sums of groups, under masks."""
        return tuple(each for check in self.checks for each in check.groups)

    @property
    def skipped(self) -> bool:
        """Whether too few answers were left and the model stayed as it was."""
        return not all(check.quorum for check in self.checks)


def run(
    method: Method[S],
    engine: Engine,
    state: S,
    rounds: int,
    gate: Gate | None = None,
    cost: float = 0.0,
    noisy: bool = False,
) -> Iterator[Round[S]]:
    """Run the method until `rounds` rounds are done, yielding after each of them.

    Each of them costs so much privacy, whatever comes of it, with noise on the model or
    on statistics alone.
    """
    gate = gate or Gate(statistics=method.statistics, due=method.due)
    while state.round < rounds:
        begun, changes = with_members(
            state, engine.clients(), engine.absent(state.round)
        )
        asking = one_round(method, begun, gate)
        tasks = next(asking)
        while True:
            try:
                tasks = asking.send(engine.arriving(tasks))
            except StopIteration as over:
                done: Round[S] = over.value
                break
        if cost:
            spent, noised = state.spent + cost, state.noised + noisy
            after = replace(done.state, spent=spent, noised=noised)
            done = replace(done, state=after)
        yield replace(done, changes=changes) if changes else done
        state = done.state


def one_round(
    method: Method[S], state: S, gate: Gate
) -> Generator[Sequence[Task], Iterable[Answer], Round[S]]:
    """Go through one round: yield tasks, be sent the answers, return what is left.

    It does not know how answers come about, so that whoever has a loop of its own, as
    Flower has, goes through the very same round. A method with several phases keeps
    `state.round` as it is until its last one.
    """
    before, checks = state, list[Check]()
    while state.round == before.round:
        tasks = method.plan(state)
        answers = yield gate.admitted(tasks, state.gate)
        check = gate.check(tasks, answers, state.clients, state.gate)
        try:
            state, check = _closed(method, before, state, check, gate.guard)
        except RoundFailed as failed:
            check = _failed(check, before.round, failed)
            new = _skipped(before, check)
            state = replace(new, gate=check.state, good=_best(before, state, check))
        checks.append(check)
    return Round(state, checks)


def _closed(
    method: Method[S], before: S, state: S, check: Check, guard: Guard
) -> tuple[S, Check]:
    """Close a phase: combine what passed, or go on from an older model.

    Args:
        method: Whose phase it is.
        before: The state at the beginning of the round.
        state: The state that the tasks were planned from.
        check: What the gate made of the replies.
        guard: What compares sums of groups, where there are no single steps to see.
    """
    if check.verdict == "worse" and before.good is not None:
        good = cast(S, before.good)
        new = replace(
            good,
            round=before.round + 1,
            contributions={},
            clients=before.clients,
            away=before.away,
        )
    elif check.verdict == "worse":
        check = _unkept(check)
        new = _skipped(before, check)
    elif not check.quorum:
        new = _skipped(before, check)
    else:
        new = method.aggregate(state, check.updates)
        if new.opened:
            new, check = _compared(method, new, check, guard)
        if check.kept and new.round > state.round:
            shares = new.contributions.items()
            kept = {id: share * check.kept.get(id, 1.0) for id, share in shares}
            new = replace(new, contributions=kept)
    best = _best(before, state, check)
    return replace(new, gate=check.state, good=best), check


def _best(before: S, state: S, check: Check) -> ServerState | None:
    """Keep the model that went out if it is the best one, whatever becomes of a round.

    Of several phases the first one judges it, and a later one may fail.
    """
    return replace(before, good=None) if check.verdict == "best" else state.good


def _compared(
    method: Method[S], state: S, check: Check, guard: Guard
) -> tuple[S, Check]:
    """Let the guard compare sums of groups, and move the model by what is left."""
    found = compare(guard, state.opened, check.state.guard, state.round)
    moved = method.aggregate(state.keeping(found.parts), check.updates)
    after = replace(
        check,
        state=replace(check.state, guard=found.state),
        notices=(*check.notices, *found.notices),
        groups=found.records,
    )
    return moved, after


def _failed(check: Check, round: int, why: RoundFailed) -> Check:
    """Count a round as skipped for what its answers are, not for their number."""
    reason = f"{why.args[0]}; model unchanged"
    notices = (*check.notices, Notice(None, round, why.code, reason))
    gate = replace(check.state, skipped=check.state.skipped + 1)
    return replace(check, state=gate, notices=notices, quorum=False)


def _unkept(check: Check) -> Check:
    """Skip a round that should go back to a model which nobody has kept.

    Only a checkpoint of an older release leads here. Its replies were not bounded, for
    they were to be left; from then on models are held against the one that stays.
    """
    reason = "held-out accuracy fell, but no better model was kept; model unchanged"
    notices = tuple(
        replace(each, reason=reason) if each.code == "FS2141" else each
        for each in check.notices
    )
    guard, skipped = replace(check.state.guard, best=None), check.state.skipped + 1
    gate = replace(check.state, guard=guard, skipped=skipped)
    return replace(check, state=gate, notices=notices, quorum=False)


def _skipped(before: S, check: Check) -> S:
    """Go on with the model from before the round, but not for ever."""
    if check.state.skipped > MOST_SKIPS:
        raise ProtocolError(
            f"{check.state.skipped} rounds in a row had too few usable replies, the "
            f"last one {len(check.updates)} of {check.asked}; see metrics.jsonl for "
            "the reasons, or lower guard.min_labeled and guard.min_unlabeled",
            code="FS2201",
        )
    return replace(before, round=before.round + 1, contributions={})
