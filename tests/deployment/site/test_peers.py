"""Whose keys a site believes: those of the folder `peers`, or the first that came."""

from __future__ import annotations

from pathlib import Path

import pytest

from fedsemi.deployment.certificates import make_site_key, new_site_key, read_site_key
from fedsemi.deployment.site.peers import SiteIdentity
from fedsemi.errors import ConfigError, ProtocolError
from fedsemi.privacy.letters import Advert, Roster
from fedsemi.privacy.rules import Rules
from fedsemi.privacy.site import SumSite
from fedsemi.privacy.vault import HeldVault

NONCE, BOUND = b"\x07" * 32, bytes(32)


@pytest.fixture
def folders(tmp_path: Path) -> list[Path]:
    """Make the folders of four sites, each with a key."""
    made = [tmp_path / f"site-{i}" for i in range(4)]
    for folder in made:
        folder.mkdir()
        new_site_key(folder)
    return made


def _introduce(folders: list[Path]) -> None:
    for folder in folders:
        (folder / "peers").mkdir()
        for i, other in enumerate(folders):
            key = (other / "keys" / "site.pub").read_bytes()
            (folder / "peers" / f"site-{i}.pub").write_bytes(key)


def _site(number: int, folder: Path) -> SumSite:
    identity = SiteIdentity(folder, read_site_key(folder / "keys" / "site.key"))
    return SumSite(number, "a plan", Rules(), identity, HeldVault())


def _begun(folders: list[Path]) -> tuple[list[SumSite], list[Advert]]:
    sites = [_site(i, folder) for i, folder in enumerate(folders)]
    return sites, [site.begin(0, NONCE, BOUND) for site in sites]


@pytest.mark.parametrize("introduced", [True, False])
def test_keys_that_are_signed_by_those_they_belong_to_are_taken(
    folders: list[Path], introduced: bool
) -> None:
    if introduced:
        _introduce(folders)
    sites, adverts = _begun(folders)
    assert sites[0].share(0, Roster(adverts=tuple(adverts))).sealed.keys() == {1, 2, 3}


def test_a_coordinator_cannot_pose_as_another_site(
    folders: list[Path], tmp_path: Path
) -> None:
    _introduce(folders)
    sites, adverts = _begun(folders)
    (tmp_path / "forged" / "keys").mkdir(parents=True)
    make_site_key(tmp_path / "forged" / "keys" / "site.key")
    adverts[3] = _site(3, tmp_path / "forged").begin(0, NONCE, BOUND)
    with pytest.raises(ProtocolError, match=r"FS6006.*site 3"):
        sites[0].share(0, Roster(adverts=tuple(adverts)))


def test_keys_of_another_session_or_changed_ones_are_refused(
    folders: list[Path],
) -> None:
    _introduce(folders)
    sites, adverts = _begun(folders)
    stale = sites[3].begin(0, b"\x08" * 32, BOUND)
    with pytest.raises(ProtocolError, match="FS6006"):
        sites[0].share(0, Roster(adverts=(*adverts[:3], stale)))
    changed = adverts[3].model_copy(update={"seal": adverts[2].seal})
    with pytest.raises(ProtocolError, match="FS6006"):
        sites[0].share(0, Roster(adverts=(*adverts[:3], changed)))


def test_without_the_folder_the_first_key_counts_and_no_other_later(
    folders: list[Path], tmp_path: Path
) -> None:
    sites, adverts = _begun(folders)
    sites[0].share(0, Roster(adverts=tuple(adverts)))
    (tmp_path / "forged" / "keys").mkdir(parents=True)
    make_site_key(tmp_path / "forged" / "keys" / "site.key")
    others = [_site(i, folder) for i, folder in enumerate(folders)]
    others[3] = _site(3, tmp_path / "forged")
    later = tuple(site.begin(1, NONCE, BOUND) for site in others)
    with pytest.raises(ProtocolError, match=r"FS6006.*site 3"):
        others[0].share(1, Roster(adverts=later))


def test_a_key_that_signed_nothing_is_not_taken_for_the_first(
    folders: list[Path],
) -> None:
    sites, adverts = _begun(folders)
    forged = adverts[3].model_copy(update={"signer": b"no key"})
    with pytest.raises(ProtocolError, match=r"FS6006.*site 3"):
        sites[0].share(0, Roster(adverts=(*adverts[:3], forged)))
    assert sites[0].share(0, Roster(adverts=tuple(adverts))).sealed.keys() == {1, 2, 3}


def test_one_key_is_not_two_sites(folders: list[Path]) -> None:
    sites, adverts = _begun(folders)
    double = _site(4, folders[3]).begin(0, NONCE, BOUND)
    with pytest.raises(ProtocolError, match="FS6005"):
        sites[0].share(0, Roster(adverts=(*adverts, double)))


def test_a_signature_of_somebody_else_is_none(folders: list[Path]) -> None:
    one, two = (
        SiteIdentity(f, read_site_key(f / "keys" / "site.key")) for f in folders[:2]
    )
    assert one.verify(two.signer, b"a set", two.sign(b"a set"))
    assert not one.verify(two.signer, b"another", two.sign(b"a set"))
    assert not one.verify(two.signer, b"a set", one.sign(b"a set"))
    assert not one.verify(b"no key", b"a set", b"")


def test_a_file_that_holds_no_key_is_named(folders: list[Path]) -> None:
    (folders[0] / "peers").mkdir()
    (folders[0] / "peers" / "site-1.pub").write_text("nothing")
    with pytest.raises(ConfigError, match=r"FS6013.*site-1\.pub"):
        _site(0, folders[0])
