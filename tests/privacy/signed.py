"""Sites that sign with real keys, and know those of each other."""

from __future__ import annotations

from collections.abc import Iterable

from cryptography.hazmat.primitives.asymmetric.ec import (
    ECDSA,
    SECP384R1,
    generate_private_key,
)
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from fedsemi.privacy.letters import Advert
from fedsemi.privacy.rules import Rules
from fedsemi.privacy.signatures import signed_by
from fedsemi.privacy.site import SumSite
from fedsemi.privacy.vault import HeldVault


class Enrolled:
    """A site with a key, and the public keys of all sites by their numbers."""

    def __init__(self, known: dict[int, bytes], site: int) -> None:
        self._key = generate_private_key(SECP384R1())
        self._known = known
        public = self._key.public_key()
        self.signer = public.public_bytes(
            Encoding.DER, PublicFormat.SubjectPublicKeyInfo
        )
        known[site] = self.signer

    def sign(self, text: bytes) -> bytes:
        return self._key.sign(text, ECDSA(SHA256()))

    def knows(self, advert: Advert) -> bool:
        return self._known.get(advert.site) == advert.signer

    def verify(self, signer: bytes, text: bytes, signature: bytes) -> bool:
        return signed_by(signer, text, signature)


def enrolled(ids: Iterable[int]) -> dict[int, Enrolled]:
    """Give each site a key that all others know."""
    known: dict[int, bytes] = {}
    return {id: Enrolled(known, id) for id in ids}


def sites_with(
    keys: dict[int, Enrolled], rules: Rules | None = None, context: str = "a plan"
) -> dict[int, SumSite]:
    """Make the sites of a stage: the keys stay, a vault is of one stage alone."""
    rules = rules or Rules()
    return {
        id: SumSite(id, context, rules, key, HeldVault()) for id, key in keys.items()
    }
