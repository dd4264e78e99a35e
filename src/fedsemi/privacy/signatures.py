"""Whether a key has signed a text: ECDSA, as sites are enrolled with."""

from __future__ import annotations

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ec import ECDSA, EllipticCurvePublicKey
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import load_der_public_key


def signed_by(signer: bytes, text: bytes, signature: bytes) -> bool:
    """Tell whether a public key, as it is written in an advert, has signed a text."""
    try:
        key = load_der_public_key(signer)
        if not isinstance(key, EllipticCurvePublicKey):
            return False
        key.verify(signature, text, ECDSA(SHA256()))
    except (ValueError, UnsupportedAlgorithm, InvalidSignature):
        return False
    return True
