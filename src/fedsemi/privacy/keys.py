"""Keys: agreed on by X25519, derived by HKDF, each for one purpose only.

All primitives are those of the package `cryptography`; nothing is made here.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.asymmetric.x25519 import (
    X25519PrivateKey,
    X25519PublicKey,
)
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from fedsemi.errors import ProtocolError
from fedsemi.privacy.parameters import PROTOCOL, SECRET_BYTES

_ONCE = bytes(12)
"""A key seals one message, so that its nonce may be any."""


def told(*parts: bytes | str | int) -> bytes:
    """Write parts one after the other so that no other parts read the same.

    >>> told("ab", "c") == told("a", "bc")
    False
    """
    whole = b""
    for part in parts:
        kind = {bytes: b"b", str: b"s", int: b"i"}[type(part)]
        raw = part if isinstance(part, bytes) else str(part).encode()
        whole += kind + len(raw).to_bytes(8, "big") + raw
    return whole


def hashed(*parts: bytes | str | int) -> bytes:
    """Hash parts, each with its length."""
    return hashlib.sha256(told(*parts)).digest()


def numbers(values: Iterable[int]) -> bytes:
    """Write a set of numbers: sorted, so that there is one way only."""
    return told(*sorted(values))


def public_of(secret: bytes) -> bytes:
    """Return the public key of a secret one."""
    return X25519PrivateKey.from_private_bytes(secret).public_key().public_bytes_raw()


def agreed(secret: bytes, public: bytes) -> bytes:
    """Return what two sides know, each from its own secret and the other's public."""
    try:
        mine = X25519PrivateKey.from_private_bytes(secret)
        return mine.exchange(X25519PublicKey.from_public_bytes(public))
    except ValueError:  # of another length, or a point at which all secrets agree
        raise ProtocolError("a site's public key is none", code="FS6010") from None


def derived(root: bytes, session: bytes, *purpose: bytes | str | int) -> bytes:
    """Make a key for one purpose in one session."""
    info = told(PROTOCOL, *purpose)
    return HKDF(SHA256(), SECRET_BYTES, salt=session, info=info).derive(root)


def pair_key(
    secret: bytes, public: bytes, session: bytes, context: bytes, ids: tuple[int, int]
) -> bytes:
    """Return the key of the mask that two sites share; both sides find the same."""
    root = agreed(secret, public)
    return derived(root, session, "pair", context, min(ids), max(ids))


def own_key(seed: bytes, session: bytes, context: bytes, site: int) -> bytes:
    """Return the key of a site's own mask."""
    return derived(seed, session, "own", context, site)


def sealed(
    secret: bytes, public: bytes, session: bytes, way: tuple[int, int], text: bytes
) -> bytes:
    """Encrypt what one site sends to another, by (sender, receiver)."""
    key = derived(agreed(secret, public), session, "seal", *way)
    return ChaCha20Poly1305(key).encrypt(_ONCE, text, told(session, *way))


def unsealed(
    secret: bytes, public: bytes, session: bytes, way: tuple[int, int], sealed: bytes
) -> bytes:
    """Decrypt it, or say whose letter is not what that site wrote."""
    key = derived(agreed(secret, public), session, "seal", *way)
    try:
        return ChaCha20Poly1305(key).decrypt(_ONCE, sealed, told(session, *way))
    except InvalidTag:
        raise ProtocolError(
            f"the shares of site {way[0]} for site {way[1]} were changed on their way",
            code="FS6010",
        ) from None


def commitment(seed: bytes, session: bytes, site: int) -> bytes:
    """Return what binds a site to a seed, and tells nothing of it."""
    return hashed(PROTOCOL, "seed", session, site, seed)
