"""Whose keys a server passes on: one bad advert would make every site refuse them all.

It cannot know by which key each site knows the others, but what nobody would believe it
leaves out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from fedsemi.errors import ProtocolError
from fedsemi.privacy.identity import signed
from fedsemi.privacy.keys import agreed
from fedsemi.privacy.letters import Advert

_ANY = bytes(range(32))
"""A secret that is none, to try public keys with."""


def believable(found: Mapping[int, Advert], session: bytes) -> tuple[Advert, ...]:
    """Choose adverts that are of who sent them, signed by a key that is theirs alone.

    Args:
        found: By the site that sent them.
        session: For which they were signed.
    """
    usable = [
        found[id]
        for id in sorted(found)
        if found[id].site == id
        and signed(
            found[id].signer, found[id].signed_text(session), found[id].signature
        )
        and _usable(found[id])
    ]
    keys = Counter(advert.signer for advert in usable if advert.signer)
    if not keys:
        return tuple(usable)  # a simulation, where nobody has one
    return tuple(advert for advert in usable if keys[advert.signer] == 1)


def _usable(advert: Advert) -> bool:
    """Tell whether others could use these keys."""
    try:
        for public in (advert.seal, *advert.pair):
            agreed(_ANY, public)
    except ProtocolError:
        return False
    return True
