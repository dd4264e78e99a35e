"""Who signs: a site's own key, and whose signatures it believes."""

from __future__ import annotations

from typing import Protocol

from fedsemi.privacy.letters import Advert


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
