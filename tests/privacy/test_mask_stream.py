"""Masks: as long as a sum, the same for the same key, gone without a trace."""

from __future__ import annotations

import numpy as np
import pytest
from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.ciphers.algorithms import AES256
from cryptography.hazmat.primitives.ciphers.modes import ECB
from scipy.stats import chisquare

from fedsemi.privacy.fixed_point import zeros
from fedsemi.privacy.mask_stream import add_mask, subtract_mask
from fedsemi.privacy.parameters import CHUNK_BYTES

KEY = bytes(range(32))


def test_a_mask_is_the_cipher_of_counters() -> None:
    total = zeros("model", 8)
    add_mask(total, KEY)
    blocks = Cipher(AES256(KEY), ECB()).encryptor()
    counters = b"".join(i.to_bytes(16, "big") for i in range(2))
    assert total.tobytes() == blocks.update(counters)


@pytest.mark.parametrize("phase", ["claims", "model"])
@pytest.mark.parametrize("more", [-1, 0, 1, 70_001])
def test_what_is_added_is_taken_off_whatever_the_length(phase, more: int) -> None:
    size = CHUNK_BYTES // zeros(phase, 1).itemsize + more
    total = zeros(phase, size)
    total += np.arange(size).astype(total.dtype)
    before = total.copy()
    add_mask(total, KEY)
    assert (total != before).mean() > 0.99
    subtract_mask(total, KEY)
    assert (total == before).all()


def test_a_longer_mask_begins_as_a_shorter_one_and_does_not_repeat() -> None:
    short, long = zeros("model", 1000), zeros("model", CHUNK_BYTES)
    add_mask(short, KEY)
    add_mask(long, KEY)
    assert (long[:1000] == short).all()
    assert len(np.unique(long.view(np.uint64))) == len(long) // 2


def test_the_bytes_of_a_mask_are_uniform() -> None:
    total = zeros("model", 1 << 20)
    add_mask(total, KEY)
    counts = np.bincount(total.view(np.uint8), minlength=256)
    assert chisquare(counts).pvalue > 1e-4
