"""Sites find the sums of claims by themselves; no server can tell them others."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from fedsemi.errors import ProtocolError
from fedsemi.privacy.fixed_point import to_fixed
from fedsemi.privacy.letters import Account, Claimed, Roster, Survivors, claims_text
from fedsemi.privacy.rules import Rules
from fedsemi.privacy.server import SumSession
from fedsemi.privacy.site import SumSite

from .played import BOUND, NONCE, refused
from .signed import enrolled, sites_with

SIZE = 3


def value(site: int) -> Any:
    return np.array([10.0 * site + 3, 0.5, site + 0.25])


class Opened:
    """Seven sites that summed their claims; site 6 was lost before it sent any."""

    def __init__(self, sites: dict[int, SumSite] | None = None) -> None:
        self.keys = enrolled(range(7))
        self.sites = sites or sites_with(self.keys)
        rules = self.sites[0].rules
        session = SumSession(rules, "a plan", 0, NONCE)
        every = self.sites.items()
        session = session.with_adverts({i: s.begin(0, NONCE, BOUND) for i, s in every})
        shared = {i: s.share(0, session.roster) for i, s in every}
        session = session.with_envelopes(shared)
        for i, site in every:
            site.receive(0, session.envelopes_for(i))
        self.claimed = {
            i: s.claim(0, to_fixed(value(i), "claims"), BOUND)
            for i, s in every
            if i != 6
        }
        session = session.with_claims(self.claimed, SIZE)
        told = session.survivors_of("claims")
        there = {i: self.sites[i] for i in session.survivors["claims"]}
        signed = {i: s.consent(0, "claims", told).signature for i, s in there.items()}
        session = session.with_consents("claims", signed)
        consents = session.consents["claims"]
        opened = {i: s.open(0, "claims", consents) for i, s in there.items()}
        helped = session.helpers("claims", opened)
        unlocked = session.secrets("claims", helped)
        self.sums = session.opened("claims", unlocked, BOUND)[0]
        self.session = session.accounted(unlocked, helped)

    def told(self, account: Account) -> str:
        return refused(self.sites[0].total, 0, account, SIZE)


@pytest.fixture(scope="module")
def opened() -> Opened:
    return Opened()


def test_a_site_finds_the_sums_that_the_server_found(opened: Opened) -> None:
    due = sum(value(i) for i in range(6))
    for i in range(6):
        found = opened.sites[i].total(0, opened.session.account, SIZE)
        assert found.tobytes() == opened.sums.tobytes() == due.tobytes()


def test_an_account_holds_nothing_that_the_server_was_not_given(opened: Opened) -> None:
    account = opened.session.account
    assert account.claims == opened.claimed
    assert account.own.keys() == set(range(6))
    assert account.pair.keys() == {6}
    secrets = {i: site.vault.read() for i, site in opened.sites.items()}
    # Of the model's sum nothing is in it, and of no site both secrets of the claims.
    for i, record in secrets.items():
        assert record is not None
        assert account.own.get(i) in (None, record.own[0])
        assert account.pair.get(i) in (None, record.pair[0])


@pytest.mark.parametrize("site", [1, 5])
def test_claims_that_were_changed_on_their_way_give_no_sum(
    opened: Opened, site: int
) -> None:
    """A server that wants one site's step alone claims a lot for another."""
    account = opened.session.account
    more = np.frombuffer(account.claims[site].numbers, np.uint64) + np.uint64(1 << 44)
    signature = account.claims[site].signature
    lie = Claimed(numbers=more.tobytes(), signature=signature)
    claims = {**account.claims, site: lie}
    assert opened.told(account.model_copy(update={"claims": claims})) == "FS6030"


def _forged(account: Account) -> dict[str, Account]:
    other = bytes(range(32))
    swapped = {**account.claims, 1: account.claims[2]}
    short = {i: c for i, c in account.claims.items() if i != 3}
    updates: dict[str, dict[str, Any]] = {
        "a seed of nobody": {"own": {**account.own, 1: other}},
        "a secret of nobody": {"pair": {6: other}},
        "a secret too few": {"pair": {}},
        "a secret too many": {"pair": {**account.pair, 1: other}},
        "another's claims": {"claims": swapped},
        "one site fewer": {"claims": short},
    }
    return {name: account.model_copy(update=each) for name, each in updates.items()}


def test_an_account_with_other_secrets_or_sites_gives_no_sum(opened: Opened) -> None:
    for name, account in _forged(opened.session.account).items():
        assert opened.told(account) == "FS6030", name
    assert opened.told(opened.session.account) == ""


def test_a_signature_is_of_these_claims_under_these_keys_with_these_sites(
    opened: Opened,
) -> None:
    """Who signs for another session, list of keys or set has signed nothing here."""
    account, session = opened.session.account, opened.session
    numbers, whole = account.claims[1].numbers, tuple(range(7))
    fewer = session.roster.model_copy(update={"adverts": session.roster.adverts[:6]})
    for parts, code in (
        ((session.id, 1, session.roster, whole), ""),
        ((bytes(32), 1, session.roster, whole), "FS6030"),
        ((session.id, 2, session.roster, whole), "FS6030"),
        ((session.id, 1, fewer, whole), "FS6030"),
        ((session.id, 1, session.roster, whole[:6]), "FS6030"),
    ):
        signature = opened.keys[1].sign(claims_text(*parts, numbers))
        claims = {**account.claims, 1: Claimed(numbers=numbers, signature=signature)}
        told = account.model_copy(update={"claims": claims})
        assert opened.told(told) == code, parts[1:]


def test_a_conspiring_site_cannot_claim_more_than_claims_can_be(opened: Opened) -> None:
    account, session = opened.session.account, opened.session
    lie = np.frombuffer(account.claims[1].numbers, np.uint64) + np.uint64(1 << 58)
    text = claims_text(session.id, 1, session.roster, tuple(range(7)), lie.tobytes())
    signed = Claimed(numbers=lie.tobytes(), signature=opened.keys[1].sign(text))
    claims = {**account.claims, 1: signed}
    assert opened.told(account.model_copy(update={"claims": claims})) == "FS6030"


def test_who_does_not_sign_its_claims_is_lost_and_nobody_else(opened: Opened) -> None:
    session = replace(opened.session, survivors={}, masked={}, heard={})
    unsigned = {1: opened.claimed[1].model_copy(update={"signature": b""})}
    there = session.with_claims(opened.claimed | unsigned, SIZE)
    assert there.survivors["claims"] == (0, 2, 3, 4, 5)
    short = {1: opened.claimed[1].model_copy(update={"numbers": bytes(8)})}
    there = session.with_claims(opened.claimed | short, SIZE)
    assert there.survivors["claims"] == (0, 2, 3, 4, 5)


def _few(unlabeled: int) -> dict[int, SumSite]:
    rules = Rules(least_unlabeled=3)
    sites = sites_with(enrolled(range(7)), rules)
    return {i: replace(site, unlabeled=i < unlabeled) for i, site in sites.items()}


def test_claims_of_fewer_than_three_unlabeled_sites_are_not_summed() -> None:
    for unlabeled, code in ((1, "FS6031"), (2, "FS6031"), (3, "")):
        sites = _few(unlabeled)
        adverts = tuple(site.begin(0, NONCE, BOUND) for site in sites.values())
        assert refused(sites[6].share, 0, Roster(adverts=adverts)) == code


def test_a_set_without_three_unlabeled_sites_is_not_signed() -> None:
    """A server calls one of three lost; those with labels alone hide nobody's r."""
    stage = Opened(_few(3))
    fresh = Survivors(sites=(0, 1, 3, 4, 5, 6))
    site = stage.sites[0]
    record = site.vault.read()
    assert record is not None
    site.vault.write(record.model_copy(update={"consents": {}}))
    assert refused(site.consent, 0, "claims", fresh) == "FS6031"
    with pytest.raises(ProtocolError, match=r"FS6031.*of 2 sites"):
        some = {i: c for i, c in stage.claimed.items() if i != 2}
        stage.session.with_claims(some, SIZE)


def test_who_says_it_has_unlabeled_images_signs_that() -> None:
    sites = _few(3)
    adverts = [site.begin(0, NONCE, BOUND) for site in sites.values()]
    adverts[5] = adverts[5].model_copy(update={"unlabeled": True})
    assert refused(sites[0].share, 0, Roster(adverts=tuple(adverts))) == "FS6006"
