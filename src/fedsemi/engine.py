"""An engine: where tasks are carried out, and all that its callers may ask of it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Self

from fedsemi.messages import Answer, ClientInfo, Memory, Task


@dataclass(frozen=True)
class Absence:
    """Why a client takes no part in a round."""

    reason: str
    for_good: bool = False
    """Whether it will never take part again."""


class Engine(ABC):
    """Carries tasks out: in this process, in workers, or on a network.

    It is opened as a context manager for one stage; clients forget when it closes.
    """

    @abstractmethod
    def clients(self) -> Sequence[ClientInfo]:
        """List the clients that can be asked; more may join from round to round."""

    def absent(self, round: int) -> Mapping[int, Absence]:
        """Say which clients take no part in a round, and are not waited for."""
        return {}

    @abstractmethod
    def run(self, tasks: Sequence[Task]) -> Sequence[Answer]:
        """Carry out tasks; return the answers sorted by (group, client).

        The tasks of one client run in the order given. A client that did not answer
        is missing from the result. The answers are valid until the next call.
        """

    def arriving(self, tasks: Sequence[Task]) -> Iterator[Answer]:
        """Carry out tasks; yield the answers in any order, if possible as they come.

        So the first can be looked at while others still learn.
        """
        yield from self.run(tasks)

    @abstractmethod
    def memory(self, client: int) -> Memory:
        """Show what a client remembers: for checkpoints and the simulation's oracle."""

    @abstractmethod
    def restore(self, memories: Mapping[int, Memory]) -> None:
        """Give clients their memories back; nothing to do where they keep their own."""

    def close(self, failed: bool = False) -> None:  # noqa: B027
        """Let go of whatever was opened; after a failure without waiting for it."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self.close(failed=kind is not None)


class WrappedEngine(Engine):
    """An engine that does as another one; its heirs look at what passes, or change it.

    Whoever opened the inner engine closes it.
    """

    def __init__(self, engine: Engine) -> None:
        self.engine = engine

    def clients(self) -> Sequence[ClientInfo]:
        """List the clients."""
        return self.engine.clients()

    def absent(self, round: int) -> Mapping[int, Absence]:
        """Say which clients take no part."""
        return self.engine.absent(round)

    def run(self, tasks: Sequence[Task]) -> Sequence[Answer]:
        """Carry out the tasks."""
        return self.engine.run(tasks)

    def memory(self, client: int) -> Memory:
        """Show what a client remembers."""
        return self.engine.memory(client)

    def restore(self, memories: Mapping[int, Memory]) -> None:
        """Give clients their memories back."""
        self.engine.restore(memories)
