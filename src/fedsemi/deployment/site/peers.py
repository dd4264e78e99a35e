"""Whom a site believes to be which other site, when keys for masked sums come.

    peers/site-3.pub    the public key of site 3, from its owner, not the coordinator

With that folder, a site sums with those who are in it and with nobody else. Without it,
the first key that comes for a site is noted, and another one refused from then on: who
controlled the coordinator then could have posed as all other sites. A policy that keeps
anything from the coordinator asks for the folder.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ec import (
    ECDSA,
    EllipticCurvePrivateKey,
    EllipticCurvePublicKey,
)
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    PublicFormat,
    load_ssh_public_key,
)

from fedsemi.deployment.certificates import PEERS
from fedsemi.errors import ConfigError
from fedsemi.privacy.letters import Advert
from fedsemi.privacy.signatures import signed_by
from fedsemi.storage import write_whole
from fedsemi.text.json_text import parsed_object
from fedsemi.text.printable import printable

_NOTED = "peers.json"
_NAME = re.compile(r"site-(0|[1-9][0-9]{0,8})")


class SiteIdentity:
    """A site's enrolled key, and the keys of the others as far as it knows them."""

    def __init__(self, folder: Path, key: EllipticCurvePrivateKey) -> None:
        self._key = key
        self._noted = folder / _NOTED
        self._peers = read_peers(folder)
        self.signer = _written(key.public_key())

    def sign(self, text: bytes) -> bytes:
        """Sign a text."""
        return self._key.sign(text, ECDSA(SHA256()))

    def knows(self, advert: Advert) -> bool:
        """Tell whether this is the key that belongs to that site."""
        if advert.signer == self.signer or self._peers is not None:
            return advert.signer in (self.signer, (self._peers or {}).get(advert.site))
        noted = self._read_noted()
        if str(advert.site) not in noted:
            noted[str(advert.site)] = advert.signer.hex()
            write_whole(self._noted, json.dumps(noted).encode(), private=True)
        return noted[str(advert.site)] == advert.signer.hex()

    def verify(self, signer: bytes, text: bytes, signature: bytes) -> bool:
        """Tell whether a key has signed a text."""
        return signed_by(signer, text, signature)

    def _read_noted(self) -> dict[str, str]:
        if not self._noted.exists():
            return {}
        try:
            found = parsed_object(self._noted.read_bytes())
        except ValueError:
            why = "is damaged; put the others' keys into the folder `peers`"
            raise _wrong(self._noted, why) from None
        return {str(site): str(key) for site, key in found.items()}


def read_peers(folder: Path) -> dict[int, bytes] | None:
    """Read the keys that a site's owner has of the others; None if there are none."""
    paths = sorted((folder / PEERS).glob("*.pub"))
    if not (folder / PEERS).is_dir():
        return None
    return dict(_peer(path) for path in paths)


def _peer(path: Path) -> tuple[int, bytes]:
    named = _NAME.fullmatch(path.stem)
    try:
        key = load_ssh_public_key(path.read_bytes())
    except (OSError, ValueError, UnsupportedAlgorithm):
        key = None
    if named is None or not isinstance(key, EllipticCurvePublicKey):
        raise _wrong(path, "is no site-N.pub with the public key of a site")
    return int(named[1]), _written(key)


def _written(key: EllipticCurvePublicKey) -> bytes:
    return key.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)


def _wrong(path: Path, why: str) -> ConfigError:
    return ConfigError(f"'{printable(str(path))}' {why}", code="FS6013")
