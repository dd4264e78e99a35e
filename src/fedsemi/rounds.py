"""The federated round: the one loop that every method and engine runs through."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Generic, Protocol

from fedsemi.messages import ClientInfo, Memory, Task, Update
from fedsemi.method import Method, S


class Engine(Protocol):
    """Where tasks are carried out: in this process, in workers, or on a network."""

    def clients(self) -> Sequence[ClientInfo]:
        """List the clients that can be asked."""
        ...

    def run(self, tasks: Sequence[Task]) -> Sequence[Update]:
        """Carry out tasks; return the answers sorted by (group, client).

        The tasks of one client run in the order given. A client that failed to answer
        is missing from the result. The answers are valid until the next call.
        """
        ...

    def memory(self, client: int) -> Memory:
        """Show what a client remembers: for checkpoints and the simulation's oracle."""
        ...


@dataclass(frozen=True)
class Round(Generic[S]):
    """What one round left behind."""

    state: S
    updates: Sequence[Update]


def run(method: Method[S], engine: Engine, state: S, rounds: int) -> Iterator[Round[S]]:
    """Run the method until `rounds` rounds are done, yielding after each of them.

    A method with several phases keeps `state.round` as it is until its last one.
    """
    while state.round < rounds:
        current, answers = state.round, list[Update]()
        while state.round == current:
            updates = engine.run(method.plan(state))
            state = method.aggregate(state, updates)
            answers += updates
        yield Round(state, answers)
