"""What gate and guard have to say of a round, for the records."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Notice:
    """Something that was seen or done; `client` is None if it concerns the round."""

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
