"""Masks: as many random integers as a sum has, from a key (AES-256 in counter mode)."""

from __future__ import annotations

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, CipherContext
from cryptography.hazmat.primitives.ciphers.algorithms import AES256
from cryptography.hazmat.primitives.ciphers.modes import CTR

from fedsemi.privacy.fixed_point import Integers
from fedsemi.privacy.parameters import CHUNK_BYTES

_BLOCK = 16
_ZEROS = bytes(CHUNK_BYTES)


def add_mask(total: Integers, key: bytes) -> None:
    """Add the mask of a key, in place."""
    _go(total, key, np.add)


def subtract_mask(total: Integers, key: bytes) -> None:
    """Take the mask of a key off, in place."""
    _go(total, key, np.subtract)


def _go(total: Integers, key: bytes, step: np.ufunc) -> None:
    # A key is used for one mask, so the counter may start at zero.
    stream: CipherContext = Cipher(AES256(key), CTR(bytes(_BLOCK))).encryptor()
    room = bytearray(CHUNK_BYTES + _BLOCK)
    kind = total.dtype.newbyteorder("<")  # both sides of a pair find the same numbers
    mask = np.frombuffer(room, dtype=kind, count=CHUNK_BYTES // total.itemsize)
    for start in range(0, len(total), len(mask)):
        part = total[start : start + len(mask)]
        stream.update_into(_ZEROS[: part.nbytes], room)
        step(part, mask[: len(part)], out=part)
