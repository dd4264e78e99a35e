"""Who signs: a site's own key, and whose signatures it believes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from fedsemi.errors import ProtocolError
from fedsemi.privacy.letters import Advert, Roster


class Identity(Protocol):
    """A site's signing key, and what it knows of the others'."""

    @property
    def signer(self) -> bytes:
        """The public key."""
        ...

    def sign(self, text: bytes) -> bytes:
        """Sign a text."""
        ...

    def knows(self, advert: Advert) -> bool:
        """Tell whether this is the key that belongs to that site."""
        ...

    def verify(self, signer: bytes, text: bytes, signature: bytes) -> bool:
        """Tell whether a key has signed a text."""
        ...


class Unsigned:
    """Of a simulated site: server and sites are one process, with nobody to fool."""

    signer = b""

    def sign(self, text: bytes) -> bytes:
        """Sign with nothing."""
        return b""

    def knows(self, advert: Advert) -> bool:
        """Believe everybody who has no key either."""
        return advert.signer == b""

    def verify(self, signer: bytes, text: bytes, signature: bytes) -> bool:
        """Believe an empty signature."""
        return signer == b"" == signature


def check_signed(roster: Roster, session: bytes, identity: Identity) -> None:
    """Refuse keys that are not signed by those whom a site knows by their numbers."""
    for advert in roster.adverts:
        text = advert.signed_text(session)
        # In this order: the first key that comes for a site is noted for good.
        known = identity.verify(
            advert.signer, text, advert.signature
        ) and identity.knows(advert)
        if not known:
            raise ProtocolError(
                f"the keys of site {advert.site} are not signed by the key that this "
                "site knows of it; compare the folders `peers` of the sites",
                code="FS6006",
            )


def signers_of(
    text: bytes, signatures: Mapping[int, bytes], roster: Roster, identity: Identity
) -> set[int]:
    """Return which sites have signed a text, by the keys that they made known."""
    return {
        advert.site
        for advert in roster.adverts
        if advert.site in signatures
        and identity.verify(advert.signer, text, signatures[advert.site])
    }
