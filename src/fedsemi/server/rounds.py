"""The federated round: the one loop that every method and engine runs through."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Generic, Protocol, cast

from fedsemi.errors import ProtocolError
from fedsemi.messages import Answer, ClientInfo, Memory, Task, Update
from fedsemi.method import Method, S
from fedsemi.server.gate import MOST_SKIPS, Check, Gate
from fedsemi.server.notices import Notice, Rejection


class Engine(Protocol):
    """Where tasks are carried out: in this process, in workers, or on a network."""

    def clients(self) -> Sequence[ClientInfo]:
        """List the clients that can be asked; more may join from round to round."""
        ...

    def run(self, tasks: Sequence[Task]) -> Sequence[Answer]:
        """Carry out tasks; return the answers sorted by (group, client).

        The tasks of one client run in the order given. A client that did not answer
        is missing from the result. The answers are valid until the next call.
        """
        ...

    def memory(self, client: int) -> Memory:
        """Show what a client remembers: for checkpoints and the simulation's oracle."""
        ...

    def restore(self, memories: Mapping[int, Memory]) -> None:
        """Give clients their memories back; nothing to do where they keep their own."""
        ...


@dataclass(frozen=True)
class Round(Generic[S]):
    """What one round left behind."""

    state: S
    checks: Sequence[Check]
    """What the gate made of the answers, one for each phase of the method."""

    @property
    def updates(self) -> list[Update]:
        """The answers that were used, or would have been in a round of more."""
        return [update for check in self.checks for update in check.updates]

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
        """What else the gate saw, and what the guard did."""
        return tuple(each for check in self.checks for each in check.notices)

    @property
    def skipped(self) -> bool:
        """Whether too few answers were left and the model stayed as it was."""
        return not all(check.quorum for check in self.checks)


def run(
    method: Method[S], engine: Engine, state: S, rounds: int, gate: Gate | None = None
) -> Iterator[Round[S]]:
    """Run the method until `rounds` rounds are done, yielding after each of them.

    A method with several phases keeps `state.round` as it is until its last one.
    """
    gate = gate or Gate(statistics=getattr(method, "statistics", {}))
    while state.round < rounds:
        state = _joined(state, engine.clients())
        before, checks = state, list[Check]()
        while state.round == before.round:
            tasks = method.plan(state)
            answers = engine.run(gate.admitted(tasks, state.gate))
            check = gate.check(tasks, answers, state.clients, state.gate)
            state = closed(method, before, state, check)
            checks.append(check)
        yield Round(state, checks)


def _joined(state: S, clients: Sequence[ClientInfo]) -> S:
    """Take in clients that have come since; those who are known stay as they are."""
    known = {client.id: client for client in state.clients}
    merged = {client.id: client for client in clients} | known
    if len(merged) == len(known):
        return state
    return replace(state, clients=tuple(merged[id] for id in sorted(merged)))


def closed(method: Method[S], before: S, state: S, check: Check) -> S:
    """Close a phase: combine what passed, or go on from an older model.

    Args:
        method: Whose phase it is.
        before: The state at the beginning of the round.
        state: The state that the tasks were planned from.
        check: What the gate made of the replies.
    """
    if check.verdict == "worse" and before.good is not None:
        good = cast(S, before.good)
        new = replace(
            good, round=before.round + 1, contributions={}, clients=before.clients
        )
    elif not check.quorum:
        new = _skipped(before, check)
    else:
        new = method.aggregate(state, check.updates)
        if check.kept and new.round > state.round:
            shares = new.contributions.items()
            kept = {id: share * check.kept.get(id, 1.0) for id, share in shares}
            new = replace(new, contributions=kept)
    best = replace(before, good=None) if check.verdict == "best" else state.good
    return replace(new, gate=check.state, good=best)


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
