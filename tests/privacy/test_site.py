"""What a site refuses: too few others, changed keys, second answers, second sets."""

from __future__ import annotations

import numpy as np
import pytest

from fedsemi.errors import ProtocolError
from fedsemi.privacy.fixed_point import to_fixed
from fedsemi.privacy.keys import public_of
from fedsemi.privacy.letters import Consents, Envelopes, Roster, Survivors
from fedsemi.privacy.rules import Rules
from fedsemi.privacy.server import SumSession

from .played import BOUND, NONCE, Played, opened_sums, refused, sites_of

ONES = to_fixed(np.ones(4), "claims")
TWOS = to_fixed(np.full(4, 2.0), "claims")


class Stage:
    """Five sites that have gone to a step, and the server's session."""

    def __init__(self, num: int = 5, rules: Rules | None = None) -> None:
        self.sites = sites_of(range(num), rules)
        self.session = SumSession(rules or Rules(), "a plan", 0, NONCE)
        self.adverts = {i: s.begin(0, NONCE, BOUND) for i, s in self.sites.items()}
        self.session = self.session.with_adverts(self.adverts)

    def shared(self) -> Stage:
        roster = self.session.roster
        found = {i: s.share(0, roster) for i, s in self.sites.items()}
        self.session = self.session.with_envelopes(found)
        return self

    def masked(self) -> Stage:
        for i, site in self.sites.items():
            site.receive(0, self.session.envelopes_for(i))
        found = {i: s.mask(0, "claims", ONES, BOUND) for i, s in self.sites.items()}
        self.session = self.session.with_numbers("claims", found, 4)
        return self

    def agreed(self) -> Stage:
        told = self.session.survivors_of("claims")
        found = {
            i: s.consent(0, "claims", told).signature for i, s in self.sites.items()
        }
        self.session = self.session.with_consents("claims", found)
        return self

    def opened(self) -> Stage:
        told = self.session.consents["claims"]
        for site in self.sites.values():
            site.open(0, "claims", told)
        return self


def test_a_site_among_fewer_than_agreed_refuses() -> None:
    stage = Stage(5)
    lonely = Roster(adverts=stage.session.roster.adverts[:2])
    assert refused(stage.sites[0].share, 0, lonely) == "FS6004"
    with pytest.raises(ProtocolError, match="FS6004"):
        Stage(5, Rules(least_sites=6))


def test_the_same_question_gets_the_same_answer() -> None:
    stage = Stage()
    site = stage.sites[2]
    assert site.begin(0, NONCE, BOUND) == stage.adverts[2]
    first = site.share(0, stage.session.roster)
    assert site.share(0, stage.session.roster) == first
    stage.shared().masked()
    again = site.mask(0, "claims", ONES, BOUND)
    assert again.tobytes() == site.mask(0, "claims", ONES, BOUND).tobytes()
    stage.agreed().opened().opened()


def test_no_mask_hides_two_numbers() -> None:
    stage = Stage().shared().masked()
    assert refused(stage.sites[0].mask, 0, "claims", TWOS, BOUND) == "FS6005"
    assert refused(stage.sites[0].mask, 0, "claims", ONES, b"\x01" * 32) == "FS6005"


def test_a_session_keeps_the_model_keys_and_shares_that_it_began_with() -> None:
    stage = Stage()
    assert refused(stage.sites[0].begin, 0, NONCE, b"\x01" * 32) == "FS6005"
    stage.shared()
    fewer = Roster(adverts=stage.session.roster.adverts[:4])
    assert refused(stage.sites[0].share, 0, fewer) == "FS6005"
    stage.masked()
    sealed = stage.session.envelopes_for(0).sealed
    less = Envelopes(sealed={i: s for i, s in sealed.items() if i != 4})
    assert refused(stage.sites[0].receive, 0, less) == "FS6005"


def test_keys_that_were_exchanged_on_the_way_are_noticed() -> None:
    stage = Stage()
    adverts = list(stage.session.roster.adverts)
    adverts[0] = adverts[0].model_copy(update={"seal": public_of(b"\x09" * 32)})
    forged = Roster(adverts=tuple(adverts))
    assert refused(stage.sites[0].share, 0, forged) == "FS6005"


@pytest.mark.parametrize("twice", [0, 1])
def test_a_site_that_is_listed_twice_is_refused(twice: int) -> None:
    stage = Stage()
    adverts = stage.session.roster.adverts
    assert refused(
        stage.sites[0].share, 0, Roster(adverts=(*adverts, adverts[twice]))
    ) == ("FS6005")


def test_shares_for_somebody_else_are_refused() -> None:
    stage = Stage().shared()
    others = stage.session.envelopes_for(1).sealed | {1: b"x"}
    swapped = Envelopes(sealed={i: s for i, s in others.items() if i != 0})
    assert refused(stage.sites[0].receive, 0, swapped) == "FS6010"


@pytest.mark.parametrize(
    ("sites", "code"),
    [
        ((0, 1, 2), "FS6004"),  # 4 of 5 are needed
        ((1, 2, 3, 4), "FS6005"),  # without itself
        ((0, 1, 2, 9), "FS6005"),  # with a stranger
        ((0, 1, 1, 2, 3), "FS6005"),
        ((3, 2, 1, 0), "FS6005"),
    ],
)
def test_only_a_set_that_can_be_is_agreed_to(sites: tuple[int, ...], code: str) -> None:
    site = Stage().shared().masked().sites[0]
    assert refused(site.consent, 0, "claims", Survivors(sites=sites)) == code


def test_a_site_agrees_to_one_set_only() -> None:
    stage = Stage().shared().masked().agreed()
    other = Survivors(sites=(0, 1, 2, 3))
    assert refused(stage.sites[0].consent, 0, "claims", other) == "FS6005"


def test_a_set_is_opened_only_if_enough_sites_signed_that_very_set() -> None:
    stage = Stage().shared().masked().agreed()
    few = dict(list(stage.session.consents["claims"].signatures.items())[:3])
    told = Consents(signatures=few)
    assert refused(stage.sites[0].open, 0, "claims", told) == "FS6004"
    wrong = Consents(signatures=dict.fromkeys(range(5), b"forged"))
    assert refused(stage.sites[0].open, 0, "claims", wrong) == "FS6004"


def test_nothing_is_opened_out_of_order() -> None:
    site = Stage().shared().sites[0]
    empty = Consents(signatures={})
    assert refused(site.open, 0, "claims", empty) == "FS6005"
    assert refused(site.mask, 0, "model", ONES, BOUND) == "FS6005"
    assert refused(site.mask, 0, "claims", ONES, BOUND) == "FS6005"
    assert refused(site.consent, 0, "claims", Survivors(sites=(0, 1, 2, 3))) == "FS6005"
    assert refused(site.mask, 1, "claims", ONES, BOUND) == "FS6005"


def test_of_each_site_one_secret_is_opened_and_never_both() -> None:
    stage = Stage(10).shared().masked()
    for site in range(8):
        answer = stage.sites[site].consent(
            0, "claims", Survivors(sites=tuple(range(8)))
        )
        assert answer.signature == b""
    told = Consents(signatures=dict.fromkeys(range(8), b""))
    opened = stage.sites[0].open(0, "claims", told)
    assert opened.own.keys() == set(range(8))
    assert opened.pair.keys() == {8, 9}


def test_a_coordinator_that_restarts_gets_the_same_sum_again_or_none() -> None:
    values = {
        "claims": {i: [float(i)] for i in range(5)},
        "model": {i: [1.0] for i in range(5)},
    }
    first = Played(sites_of(range(5)), values).run()
    again = Played(first.sites, values, nonce=b"\x08" * 32).run()
    assert again.sums == first.sums
    # Without one of the sites the difference of the sums would be that site's part.
    with pytest.raises(ProtocolError, match=r"FS6005.*opened before"):
        Played(first.sites, values, {4: "begin"}, nonce=b"\x09" * 32).run()


def test_other_numbers_in_a_round_that_was_opened_are_refused() -> None:
    values = {
        "claims": {i: [float(i)] for i in range(5)},
        "model": {i: [1.0] for i in range(5)},
    }
    first = Played(sites_of(range(5)), values).run()
    values["claims"][2] = [7.0]
    with pytest.raises(ProtocolError, match=r"FS6005.*opened before"):
        Played(first.sites, values, nonce=b"\x08" * 32).run()


def test_a_round_that_was_cut_short_may_be_begun_again_but_not_for_ever() -> None:
    values = {
        "claims": {i: [float(i)] for i in range(5)},
        "model": {i: [1.0] for i in range(5)},
    }
    sites = sites_of(range(5))
    for i in range(2):
        for site in sites.values():
            site.begin(0, bytes([i]) * 32, BOUND)
    assert Played(sites, values).run().sums["claims"] == [10.0]
    assert refused(sites[0].begin, 0, b"\x20" * 32, BOUND) == "FS6005"
    # The next round is another matter.
    assert Played(sites, values, round=1).run().sums["claims"] == [10.0]


def test_a_new_session_has_new_keys() -> None:
    site = sites_of(range(3))[0]
    one, two = (site.begin(0, bytes([i]) * 32, BOUND) for i in (1, 2))
    keys = {one.seal, *one.pair, *one.own, two.seal, *two.pair, *two.own}
    assert len(keys) == 10


def test_sites_that_were_shown_different_models_sum_to_noise() -> None:
    stage = Stage().shared()
    for i, site in stage.sites.items():
        site.receive(0, stage.session.envelopes_for(i))
    found = {
        i: s.mask(0, "claims", ONES, b"\x01" * 32 if i == 3 else BOUND)
        for i, s in stage.sites.items()
    }
    stage.session = stage.session.with_numbers("claims", found, 4)
    stage.agreed()
    told = stage.session.consents["claims"]
    opened = {i: s.open(0, "claims", told) for i, s in stage.sites.items()}
    sums = opened_sums(stage.session, "claims", opened)[0]
    assert (np.abs(sums - 5) > 1000).all()
