"""A site's vault on disk: kills and restarts never lead to a second answer."""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import stat
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fedsemi.deployment.site.sum_vault import DiskVault
from fedsemi.errors import ProtocolError
from fedsemi.privacy.fixed_point import to_fixed
from fedsemi.privacy.identity import Unsigned
from fedsemi.privacy.letters import Consents, Survivors
from fedsemi.privacy.rules import Rules
from fedsemi.privacy.server import SumSession
from fedsemi.privacy.site import SumSite

NONCE, BOUND = b"\x07" * 32, bytes(32)
SITES = 4


class Killed(Exception):
    """Stands for a process that ends here."""


class Mortal(DiskVault):
    """A vault whose process ends at the n-th time that it writes, before or after."""

    def __init__(self, folder: Path, life: int, before: bool) -> None:
        super().__init__(folder)
        self.life, self.before = life, before

    def write(self, record: Any) -> None:
        self._live(lambda: DiskVault.write(self, record))

    def note(self, round: int, past: Any) -> None:
        self._live(lambda: DiskVault.note(self, round, past))

    def _live(self, act: Any) -> None:
        self.life -= 1
        if self.life == 0 and self.before:
            raise Killed
        act()
        if self.life == 0:
            raise Killed


def _site(id: int, vault: DiskVault) -> SumSite:
    return SumSite(id, "a plan", Rules(), Unsigned(), vault)


def _numbers(value: float) -> Any:
    return to_fixed(np.full(8, value), "claims")


@settings(max_examples=40, deadline=None)
@given(life=st.integers(1, 7), before=st.booleans(), value=st.sampled_from([1.0, 2.0]))
def test_whenever_a_site_is_killed_no_mask_hides_two_numbers(
    tmp_path_factory: pytest.TempPathFactory, life: int, before: bool, value: float
) -> None:
    folder = tmp_path_factory.mktemp("vaults")
    session = SumSession(Rules(), "a plan", 0, NONCE)
    sites = {i: _site(i, DiskVault(folder / str(i))) for i in range(SITES)}
    sent: dict[tuple[bytes, bytes], bytes] = {}
    for vault in (Mortal(folder / "0", life, before), DiskVault(folder / "0")):
        sites[0] = _site(0, vault)
        try:
            _through(sites, session, 1.0 if isinstance(vault, Mortal) else value, sent)
        except (Killed, ProtocolError):
            continue


def _through(sites: Any, session: SumSession, value: float, sent: Any) -> None:
    """Go through the first sum; note under which masks site 0 sent which numbers."""
    adverts = {i: site.begin(0, NONCE, BOUND) for i, site in sites.items()}
    session = session.with_adverts(adverts)
    shared = {i: site.share(0, session.roster) for i, site in sites.items()}
    session = session.with_envelopes(shared)
    for i, site in sites.items():
        site.receive(0, session.envelopes_for(i))
    found = {
        i: s.mask(0, "claims", _numbers(value if i == 0 else 0.0), BOUND)
        for i, s in sites.items()
    }
    masks = adverts[0].own[0], session.roster.written()
    assert sent.setdefault(masks, found[0].tobytes()) == found[0].tobytes()
    told = Survivors(sites=tuple(range(SITES)))
    signed = {i: site.consent(0, "claims", told).signature for i, site in sites.items()}
    for site in sites.values():
        site.open(0, "claims", Consents(signatures=signed))


def _killed_at_once(folder: Path) -> None:
    """Mask numbers, and be killed between the record and the answer."""
    vault = DiskVault(folder)
    write = vault.write

    def last(record: Any) -> None:
        write(record)
        if record.digests:
            os.kill(os.getpid(), signal.SIGKILL)

    vault.write = last  # type: ignore[method-assign]
    _site(0, vault).mask(0, "claims", _numbers(1.0), BOUND)


def test_a_process_that_was_killed_leaves_a_site_that_masks_nothing_else(
    tmp_path: Path,
) -> None:
    session = SumSession(Rules(), "a plan", 0, NONCE)
    sites = {i: _site(i, DiskVault(tmp_path / str(i))) for i in range(SITES)}
    session = session.with_adverts(
        {i: s.begin(0, NONCE, BOUND) for i, s in sites.items()}
    )
    shared = {i: s.share(0, session.roster) for i, s in sites.items()}
    session = session.with_envelopes(shared)
    sites[0].receive(0, session.envelopes_for(0))
    fork = multiprocessing.get_context("fork")
    child = fork.Process(target=_killed_at_once, args=(tmp_path / "0",))
    child.start()
    child.join(30)
    assert child.exitcode == -signal.SIGKILL
    again = _site(0, DiskVault(tmp_path / "0"))
    with pytest.raises(ProtocolError, match="FS6005"):
        again.mask(0, "claims", _numbers(2.0), BOUND)
    assert len(again.mask(0, "claims", _numbers(1.0), BOUND)) == 8


def test_a_damaged_record_is_an_error_and_not_a_fresh_start(tmp_path: Path) -> None:
    vault = DiskVault(tmp_path)
    _site(0, vault).begin(0, NONCE, BOUND)
    path = tmp_path / "session.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"round": "0"}))
    with pytest.raises(ProtocolError, match="FS6010"):
        _site(0, DiskVault(tmp_path)).begin(0, NONCE, BOUND)


def test_secrets_are_private_and_end_with_the_next_session(tmp_path: Path) -> None:
    vault = DiskVault(tmp_path / "vault")
    _site(0, vault).begin(0, NONCE, BOUND)
    path = tmp_path / "vault" / "session.json"
    record = vault.read()
    assert record is not None and stat.S_IMODE(path.stat().st_mode) == 0o600
    secrets = [record.seal.hex(), *(key.hex() for key in (*record.pair, *record.own))]
    assert all(secret in path.read_text() for secret in secrets)
    _site(0, vault).begin(1, NONCE, BOUND)
    left = "".join(p.read_text() for p in (tmp_path / "vault").iterdir())
    assert not any(secret in left for secret in secrets)
