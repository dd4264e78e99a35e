"""A federation of sites that sum numbers, and lose some of them on the way."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from fedsemi.errors import ProtocolError
from fedsemi.privacy import site_masks, unmasking
from fedsemi.privacy.fixed_point import to_fixed
from fedsemi.privacy.identity import Unsigned
from fedsemi.privacy.rules import Rules
from fedsemi.privacy.server import SumSession
from fedsemi.privacy.site import SumSite
from fedsemi.privacy.vault import HeldVault

STEPS = (
    "begin",
    "share",
    "claims",
    "agree claims",
    "open claims",
    "model",
    "agree model",
    "open model",
)
BOUND = bytes(32)
NONCE = b"\x07" * 32


def sites_of(ids: Iterable[int], rules: Rules | None = None) -> dict[int, SumSite]:
    """Make sites, each with a vault of its own."""
    rules = rules or Rules()
    return {
        id: SumSite(id, "a plan", rules, Unsigned(), HeldVault()) for id in sorted(ids)
    }


def opened_sums(
    session: SumSession, phase: Any, opened: Mapping[int, Any]
) -> dict[int, Any]:
    """Take the masks off with what sites opened, as a server does."""
    secrets = session.secrets(phase, session.helpers(phase, opened))
    return session.opened(phase, secrets, BOUND)


@contextmanager
def masks_of(zero: bool) -> Iterator[None]:
    """Let all masks be zero: the same sums of the same integers, for all to see."""
    with pytest.MonkeyPatch.context() as patch:
        for module in (site_masks, unmasking) if zero else ():
            for name in ("add_mask", "subtract_mask"):
                patch.setattr(module, name, lambda total, key: None)
        yield


@dataclass
class Played:
    """One session: what was seen, and what came out of it."""

    sites: Mapping[int, SumSite]
    values: Mapping[str, Mapping[int, Any]]
    """Numbers of each site, by sum."""
    lost: Mapping[int, str] = field(default_factory=dict)
    """The step at which a site is gone."""
    nonce: bytes = NONCE
    round: int = 0
    seen: list[tuple[str, int, Any]] = field(default_factory=list)
    """All that reached the server: step, site, answer."""
    sums: dict[str, list[float]] = field(default_factory=dict)
    groups: dict[str, tuple[tuple[int, ...], ...]] = field(default_factory=dict)
    """Who was dealt with whom, by sum."""
    parts: dict[str, dict[int, list[float]]] = field(default_factory=dict)
    """What each group came to, by its place in the deal."""

    def run(self) -> Played:
        """Go through all steps."""
        rules = next(iter(self.sites.values())).rules
        session = SumSession(rules, "a plan", self.round, self.nonce)
        asked = self._ask(
            "begin", self.sites, lambda s: s.begin(self.round, self.nonce, BOUND)
        )
        session = session.with_adverts(asked)
        asked = self._ask("share", asked, lambda s: s.share(self.round, session.roster))
        session = session.with_envelopes(asked)
        for id in asked:
            if not self._gone(id, "claims"):
                self.sites[id].receive(self.round, session.envelopes_for(id))
        for phase in ("claims", "model"):
            asked, session = self._sum(session, phase, asked)
        return self

    def _sum(self, session, phase, asked):
        size = len(next(iter(self.values[phase].values())))
        asked = self._ask(
            phase,
            asked,
            lambda s: s.mask(
                self.round,
                phase,
                to_fixed(np.asarray(self.values[phase][s.site], float), phase),
                BOUND,
            ),
        )
        session = session.with_numbers(phase, asked, size)
        agreed = self._ask(
            f"agree {phase}",
            session.heard[phase],
            lambda s: s.consent(self.round, phase, session.survivors_of(phase)),
        )
        signatures = {id: each.signature for id, each in agreed.items()}
        session = session.with_consents(phase, signatures)
        opened = self._ask(
            f"open {phase}",
            agreed,
            lambda s: s.open(self.round, phase, session.consents[phase]),
        )
        sums = opened_sums(session, phase, opened)
        self.groups[phase] = session.deal(phase).groups
        self.parts[phase] = {place: each.tolist() for place, each in sums.items()}
        self.sums[phase] = np.sum(list(sums.values()), axis=0).tolist()
        return asked, session

    def _ask(self, step, ids, answer) -> dict[int, Any]:
        found = {id: answer(self.sites[id]) for id in ids if not self._gone(id, step)}
        self.seen += [(step, id, each) for id, each in found.items()]
        return found

    def _gone(self, id: int, step: str) -> bool:
        return id in self.lost and STEPS.index(self.lost[id]) <= STEPS.index(step)


def refused(call, *arguments) -> str:
    """Return the code with which a call is refused, "" if it is not."""
    try:
        call(*arguments)
    except ProtocolError as error:
        return error.code
    return ""
