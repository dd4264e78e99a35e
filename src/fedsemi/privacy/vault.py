"""What a site must not forget between two steps, and must never take back.

A site's memory may be rewound: a coordinator that restarts asks again from an earlier
task. What was masked or opened may not, or the same masks would hide other numbers, or
two sets be opened. So the record of sums is kept apart, and only goes forward.
"""

from __future__ import annotations

from typing import Protocol

from pydantic import Field

from fedsemi.privacy.letters import (
    Advert,
    Envelopes,
    Key,
    Letter,
    Roster,
    Share,
    SiteId,
    Sites,
)
from fedsemi.privacy.parameters import Phase


class Opening(Letter):
    """What a site has helped to open: of which sites, with which numbers of its own."""

    sites: Sites
    digest: Key


class Past(Letter):
    """What a site remembers of a round for as long as it takes part in the plan."""

    attempts: int = 0
    """How often the round was begun."""
    opened: dict[Phase, Opening] = Field(default_factory=dict)


class Record(Letter):
    """A site's part in the sums of one round."""

    round: int
    session: Key
    bound: Key
    """Hash of the model and all else that the round began with."""
    seal: Key
    pair: tuple[Key, Key]
    own: tuple[Key, Key]
    advert: Advert
    roster: Roster | None = None
    envelopes: Envelopes | None = None
    shares: dict[SiteId, tuple[Share, ...]] = Field(default_factory=dict)
    """Of each participant's secrets: own and pair of the claims, then of the model."""
    among: dict[Phase, Sites] = Field(default_factory=dict)
    """With whom the numbers of a sum were masked."""
    bounds: dict[Phase, Key] = Field(default_factory=dict)
    """What the masks of a sum were bound to."""
    digests: dict[Phase, Key] = Field(default_factory=dict)
    """Hash of the numbers that were masked."""
    consents: dict[Phase, Sites] = Field(default_factory=dict)
    """The one set that was signed in this session."""
    settled: bool = False
    """Whether enough sites were seen to have signed the same set of claims."""


class Vault(Protocol):
    """Keeps the record of the latest session, and what became of each round.

    What is written is on disk before the call returns, where there is a disk.
    """

    def read(self) -> Record | None:
        """Return the record of the latest session."""
        ...

    def write(self, record: Record) -> None:
        """Replace it, and with it all secrets of the session before."""
        ...

    def past(self, round: int) -> Past:
        """Return what is known of a round."""
        ...

    def note(self, round: int, past: Past) -> None:
        """Remember it."""
        ...


class HeldVault:
    """A vault for a simulation: what it holds ends with the process."""

    def __init__(self, record: Record | None = None) -> None:
        self._record = record
        self._past: dict[int, Past] = {}

    def read(self) -> Record | None:
        """Return the record."""
        return self._record

    def write(self, record: Record) -> None:
        """Replace it."""
        self._record = record

    def past(self, round: int) -> Past:
        """Return what is known of a round."""
        return self._past.get(round, Past())

    def note(self, round: int, past: Past) -> None:
        """Remember it."""
        self._past[round] = past
