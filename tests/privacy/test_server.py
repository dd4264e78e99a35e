"""The server learns the sums, and whoever is lost takes nothing of them away."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fedsemi.errors import ProtocolError
from fedsemi.privacy import shamir
from fedsemi.privacy.letters import Opened
from fedsemi.privacy.recovery import Recovery
from fedsemi.privacy.rules import Rules
from fedsemi.privacy.server import SumSession
from fedsemi.privacy.site import SumSite
from fedsemi.privacy.vault import HeldVault

from .played import STEPS, Played, sites_of
from .signed import enrolled, sites_with

VALUES = {
    "claims": {id: [float(id), 1.0] for id in range(10)},
    "model": {id: [0.25 * id, -1.0, 0.5] for id in range(10)},
}


def _values(ids) -> dict[str, dict[int, Any]]:
    return {name: {id: v[id] for id in ids} for name, v in VALUES.items()}


def test_both_sums_are_those_of_all_sites() -> None:
    played = Played(sites_of(range(5)), _values(range(5))).run()
    assert played.sums == {"claims": [10.0, 5.0], "model": [2.5, -5.0, 2.5]}


@settings(max_examples=25, deadline=None)
@given(st.dictionaries(st.integers(0, 9), st.sampled_from(STEPS), max_size=3))
def test_sites_lost_at_any_step_are_missing_from_what_they_did_not_send(
    lost: dict[int, str],
) -> None:
    played = Played(sites_of(range(10)), VALUES, lost).run()
    for phase in ("claims", "model"):
        there = [
            id
            for id in range(10)
            if STEPS.index(lost.get(id, STEPS[-1])) > STEPS.index(phase)
        ]
        due = np.sum([VALUES[phase][id] for id in there], axis=0)
        assert played.sums[phase] == due.tolist()


@pytest.mark.parametrize("step", STEPS)
def test_too_few_sites_open_nothing(step: str) -> None:
    lost = dict.fromkeys(range(4), step)  # 6 of 10 are left, 7 are needed
    played = Played(sites_of(range(10)), VALUES, lost)
    if step == "begin":  # ten were asked, six made keys: a sum over six
        assert played.run().sums["claims"] == [39.0, 6.0]
        return
    with pytest.raises(ProtocolError, match="FS6004"):
        played.run()
    assert ("model" in step) == ("claims" in played.sums)


def test_two_sites_are_too_few_to_begin() -> None:
    with pytest.raises(ProtocolError, match="FS6004"):
        Played(sites_of(range(2)), _values(range(2))).run()


def test_one_site_that_opens_with_garbage_is_found_and_done_without(
    monkeypatch,
) -> None:
    helpers = SumSession.helpers

    def garbled(self, phase, found):
        bad = {id: b"\x05" * 33 for id in found[3].own}
        return helpers(self, phase, found | {3: Opened(own=bad, pair={})})

    monkeypatch.setattr(SumSession, "helpers", garbled)
    played = Played(sites_of(range(10)), VALUES).run()
    assert played.sums["claims"] == [45.0, 10.0]


def test_as_many_wrong_shares_as_there_are_to_spare_are_done_without_wherever(
    monkeypatch,
) -> None:
    """Ten sites, seven needed: three may lie, and need not be neighbors."""
    helpers = SumSession.helpers
    for liars in ((0, 5), (0, 3, 6), (1, 4, 9)):

        def garbled(self, phase, found, liars=liars):
            bad = {id: b"\x05" * 33 for id in found[3].own}
            lies = {id: Opened(own=bad, pair={}) for id in liars}
            return helpers(self, phase, found | lies)

        monkeypatch.setattr(SumSession, "helpers", garbled)
        played = Played(sites_of(range(10)), VALUES).run()
        assert played.sums["claims"] == [45.0, 10.0]


def test_five_liars_of_a_hundred_are_found_and_asked_last_the_next_time() -> None:
    recovery, tried = Recovery(67), []
    for secret in (b"\x11" * 32, b"\x22" * 32):
        shares = shamir.split(int.from_bytes(secret, "big"), range(1, 101), 67)
        told = {x - 1: value.to_bytes(33, "big") for x, value in shares.items()}
        told |= dict.fromkeys((0, 7, 31, 50, 66), b"\x05" * 33)
        tries: list[bool] = []

        def fits(each: bytes, due=secret, tries=tries) -> bool:
            tries.append(each == due)
            return each == due

        assert recovery.secret(told, fits) == secret
        tried.append(len(tries))
    assert tried[1] == 1 < tried[0]


def test_adverts_that_no_site_would_believe_stop_nobody_else() -> None:
    keys = enrolled(range(7))
    sites = sites_with(keys)
    session = SumSession(Rules(), "a plan", 0, b"\x07" * 32)
    adverts = {i: site.begin(0, session.nonce, bytes(32)) for i, site in sites.items()}
    # One is not signed, one signed for another session, one by nobody; two share a key.
    adverts[1] = adverts[1].model_copy(update={"signature": b"forged"})
    adverts[2] = sites_with(keys)[2].begin(1, session.nonce, bytes(32))
    adverts[3] = adverts[3].model_copy(update={"signer": b"", "signature": b""})
    roster = session.with_adverts(adverts).roster
    assert [advert.site for advert in roster.adverts] == [0, 4, 5, 6]
    assert sites[0].share(0, roster).sealed.keys() == {4, 5, 6}
    twin = SumSite(6, "a plan", Rules(), keys[5], HeldVault())
    adverts[6] = twin.begin(0, session.nonce, bytes(32))
    with pytest.raises(ProtocolError, match="FS6004"):
        session.with_adverts(adverts)  # two are left


def test_garbage_without_a_share_to_spare_is_an_error_and_no_wrong_sum(
    monkeypatch,
) -> None:
    helpers = SumSession.helpers

    def garbled(self, phase, found):
        bad = {id: b"\x05" * 33 for id in found[0].own}
        return helpers(self, phase, found | {0: Opened(own=bad, pair={})})

    monkeypatch.setattr(SumSession, "helpers", garbled)
    with pytest.raises(ProtocolError, match="FS6007"):
        Played(sites_of(range(3)), _values(range(3))).run()


def test_answers_that_do_not_fit_count_as_lost() -> None:
    session = SumSession(Rules(), "a plan", 0, b"\x07" * 32)
    sites = sites_of(range(4))
    adverts = {
        id: site.begin(0, session.nonce, bytes(32)) for id, site in sites.items()
    }
    swapped = adverts | {2: adverts[3]}
    assert len(session.with_adverts(swapped).roster.adverts) == 3


def test_keys_at_which_all_secrets_agree_stop_nobody_else() -> None:
    session = SumSession(Rules(), "a plan", 0, b"\x07" * 32)
    sites = sites_of(range(4))
    adverts = {i: site.begin(0, session.nonce, bytes(32)) for i, site in sites.items()}
    adverts[1] = adverts[1].model_copy(update={"seal": bytes(32)})
    there = session.with_adverts(adverts).roster.adverts
    assert [advert.site for advert in there] == [0, 2, 3]
