"""What sites sign opens one sum under one set of keys, whoever conspires."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pytest

from fedsemi.errors import ProtocolError
from fedsemi.privacy import shamir
from fedsemi.privacy.fixed_point import from_fixed, to_fixed
from fedsemi.privacy.keys import own_key, pair_key
from fedsemi.privacy.letters import (
    Consents,
    Envelopes,
    Opened,
    Roster,
    Survivors,
    consent_text,
    sum_context,
)
from fedsemi.privacy.mask_stream import subtract_mask
from fedsemi.privacy.rules import Rules
from fedsemi.privacy.site import SumSite

from .played import BOUND, refused
from .signed import Enrolled, enrolled, sites_with

X, Y = b"\x01" * 32, b"\x02" * 32
HALF = Rules(threshold=0.5)


def value(site: int) -> Any:
    return np.array([10.0 * site + 3, 0.5, site + 0.25])


class Acted:
    """Sites that have masked their claims, for a server that shows what it likes."""

    def __init__(
        self,
        sites: dict[int, SumSite],
        nonce: bytes = X,
        among: Callable[[int], Iterable[int]] | None = None,
        roster: Callable[[int, Roster], Roster] = lambda _, whole: whole,
    ) -> None:
        self.sites = sites
        adverts = tuple(site.begin(0, nonce, BOUND) for site in sites.values())
        self.roster = Roster(adverts=adverts)
        shown = {id: roster(id, self.roster) for id in sites}
        sealed = {id: site.share(0, shown[id]).sealed for id, site in sites.items()}
        self.masked: dict[int, Any] = {}
        self.contexts: dict[int, bytes] = {}
        for id, site in sites.items():
            group = set(among(id) if among else sites)
            letter = {other: sealed[other][id] for other in group - {id}}
            site.receive(0, Envelopes(sealed=letter))
            numbers = to_fixed(value(id), "claims")
            self.masked[id] = site.mask(0, "claims", numbers, BOUND)
            self.contexts[id] = sum_context(
                "claims", shown[id], tuple(sorted(group)), BOUND
            )

    @property
    def session(self) -> bytes:
        return self.sites[0].session(0)

    def signed(self, some: Iterable[int], sites: tuple[int, ...]) -> dict[int, bytes]:
        told = Survivors(sites=sites)
        return {i: self.sites[i].consent(0, "claims", told).signature for i in some}

    def open(self, site: int, signatures: dict[int, bytes]) -> Opened:
        return self.sites[site].open(0, "claims", Consents(signatures=signatures))

    def without_own_masks(self, some: Iterable[int]) -> Any:
        """Sum up, for somebody who has the seeds of all own masks."""
        total = to_fixed(np.zeros(3), "claims")
        for id in some:
            record = self.sites[id].vault.read()
            assert record is not None
            total += self.masked[id]
            key = own_key(record.own[0], self.session, self.contexts[id], id)
            subtract_mask(total, key)
        return from_fixed(total, "claims")


def noise(numbers: Any) -> bool:
    return bool((np.abs(numbers) > 1000).all())


def test_signatures_under_other_keys_of_a_session_open_nothing() -> None:
    """A server begins X, then Y, then X again: the keys are new, the name is not."""
    sites = sites_with(enrolled(range(5)), HALF)
    whole = (0, 1, 3, 4)
    old = Acted(sites).signed((3, 4), whole)
    for site in sites.values():
        site.begin(0, Y, BOUND)
    again = Acted(sites)
    new = again.signed((0, 1), whole)
    assert refused(again.open, 1, old | new) == "FS6004"
    assert again.open(1, new | again.signed((3,), whole)).own.keys() == set(whole)


def test_signatures_of_another_stage_open_nothing() -> None:
    keys = enrolled(range(5))
    stages = [sites_with(keys, HALF, f"a plan {i} fedavg") for i in range(2)]
    first, second = (Acted(sites) for sites in stages)
    assert first.session != second.session
    whole = (0, 1, 3, 4)
    told = first.signed((3, 4), whole) | second.signed((0, 1), whole)
    assert refused(second.open, 1, told) == "FS6004"


def test_keys_of_another_stage_are_refused() -> None:
    """The nonce is the server's choice; plan and stage are not."""
    keys = enrolled(range(4))
    here, there = (sites_with(keys, context=f"a plan {i} fedavg") for i in range(2))
    theirs = [site.begin(0, X, BOUND) for site in there.values()]
    mine = here[0].begin(0, X, BOUND)
    assert refused(here[0].share, 0, Roster(adverts=(mine, *theirs[1:]))) == "FS6006"


def test_signatures_under_one_set_or_sum_do_not_open_another() -> None:
    acted = Acted(sites_with(enrolled(range(5)), HALF))
    others = acted.signed((3, 4), (0, 3, 4))
    mine = acted.signed((0, 1, 2), (0, 1, 2))
    assert refused(acted.open, 0, dict(list(mine.items())[:2]) | others) == "FS6004"
    key: Any = acted.sites[2].identity
    deal = ((0, 1, 2, 3, 4),)
    for phase, groups, sites in (
        ("model", deal, (0, 1, 2)),
        ("claims", ((0, 1, 2),), (0, 1, 2)),
        ("claims", deal, (0, 1, 2, 3)),
    ):
        text = consent_text(acted.session, phase, acted.roster, groups, sites)
        wrong = mine | {2: key.sign(text)}
        assert refused(acted.open, 0, wrong) == "FS6004", (phase, groups, sites)
    assert acted.open(0, mine).pair.keys() == {3, 4}


def test_sites_that_were_shown_different_keys_neither_open_nor_sum() -> None:
    """Sites 0 and 1 are told of a sixth that the others never hear of."""
    keys = enrolled(range(6))
    sixth = sites_with(keys)[5].begin(0, X, BOUND)

    def shown(site: int, roster: Roster) -> Roster:
        more = (sixth,) if site < 2 else ()
        return Roster(adverts=(*roster.adverts, *more))

    five = {id: site for id, site in sites_with(keys, HALF).items() if id < 5}
    acted = Acted(five, roster=shown)
    whole = (0, 1, 2, 3, 4)
    assert noise(acted.without_own_masks(whole))
    told = acted.signed(whole, whole)
    assert refused(acted.open, 0, told) == "FS6004"  # two signed what it signed
    alike = Acted(sites_with(keys, HALF))
    assert not noise(alike.without_own_masks(range(6)))


def test_sites_that_were_shown_different_sets_neither_open_nor_sum() -> None:
    """Site 0 masks with four, the others with five; the fifth one's secret is known."""
    sites = sites_with(enrolled(range(6)), HALF)
    acted = Acted(sites, among=lambda id: range(5) if id == 0 else range(6))
    record = sites[5].vault.read()
    assert record is not None
    total = to_fixed(acted.without_own_masks(range(5)), "claims")
    for id in range(1, 5):
        public, ids = acted.roster.adverts[id].pair[0], (id, 5)
        context = acted.contexts[id]
        subtract_mask(
            total, pair_key(record.pair[0], public, acted.session, context, ids)
        )
    assert noise(from_fixed(total, "claims"))
    told = acted.signed(range(5), (0, 1, 2, 3, 4))
    assert refused(acted.open, 0, told) == "FS6004"


class Conspiracy:
    """A server that wants two sets opened, and sites that give and sign all it likes.

    Two sets that differ by one site have sums that differ by its part.
    """

    def __init__(self, num: int, rules: Rules, bad: tuple[int, ...]) -> None:
        self.keys: dict[int, Enrolled] = enrolled(range(num))
        self.sites = sites_with(self.keys, rules)
        self.needed, self.bad = rules.needed(num), bad

    def opened_two(self, first: tuple[int, ...], second: tuple[int, ...]) -> bool:
        """Try to open two sets of one session, each with sites that see it alone."""
        acted = Acted(self.sites)
        return self._enough(acted, first) and self._enough(acted, second)

    def _enough(self, acted: Acted, sites: tuple[int, ...]) -> bool:
        """Have sites sign and open a set; say whether a seed comes of it."""
        alone = sorted(set(sites) - set(self.bad))
        told = acted.signed(alone, sites)
        text = consent_text(
            acted.session, "claims", acted.roster, (tuple(sorted(self.sites)),), sites
        )
        told |= {id: self.keys[id].sign(text) for id in self.bad}
        try:
            found = {id: acted.open(id, told) for id in alone}
        except ProtocolError:
            return False
        shares = {id + 1: int.from_bytes(o.own[sites[-1]]) for id, o in found.items()}
        for id in self.bad:
            record = self.sites[id].vault.read()
            assert record is not None
            shares[id + 1] = int.from_bytes(record.shares[sites[-1]][0])
        if len(shares) < self.needed:
            return False
        places = tuple(sorted(shares))[: self.needed]
        secret = shamir.joined(shares, shamir.weights_of(places))
        owner = self.sites[sites[-1]].vault.read()
        assert owner is not None
        return secret == int.from_bytes(owner.own[0])


def test_the_number_that_is_enough_is_the_least_over_all_a_server_may_choose() -> None:
    """As docs/privacy.md has it for ten sites, by threshold and least_sites."""

    def enough(least: int, threshold: float) -> int:
        rules = Rules(least, threshold)
        return min(2 * rules.needed(num) - num for num in range(least, 11))

    assert [enough(least, 2 / 3) for least in range(3, 11)] == [2, 3, 3, 4, 4, 6, 8, 10]
    assert [enough(least, 0.5) for least in (3, 4, 5)] == [1, 1, 1]


@pytest.mark.parametrize(
    ("num", "rules"),
    [
        (4, Rules()),
        (5, Rules()),
        (7, Rules()),
        (10, Rules()),
        (5, HALF),
        (6, HALF),
        (10, HALF),
    ],
)
def test_so_many_conspiring_sites_as_the_rules_say_open_two_sets_and_no_fewer(
    num: int, rules: Rules
) -> None:
    """2m - n of them are in both sets; the others are halved between the sets."""
    due = 2 * rules.needed(num) - num
    for count in (due - 1, due):
        bad = tuple(range(num - count, num))
        rest = list(range(num - count))
        half = -(-len(rest) // 2)
        first = tuple(sorted((*rest[:half], *bad)))
        second = tuple(sorted((*rest[half:], *bad)))
        conspiracy = Conspiracy(num, rules, bad)
        try:
            opened = conspiracy.opened_two(first, second)
        except ProtocolError as error:  # a set that is too small is not signed
            assert error.code == "FS6004"
            opened = False
        assert opened == (count == due), (num, count)
