"""Key agreement, derivation and sealed letters."""

from __future__ import annotations

import pytest

from fedsemi.errors import ProtocolError
from fedsemi.privacy import keys
from fedsemi.privacy.keys import (
    agreed,
    commitment,
    derived,
    numbers,
    own_key,
    pair_key,
    public_of,
    sealed,
    told,
    unsealed,
)
from fedsemi.privacy.parameters import PROTOCOL

# RFC 7748, section 5.2: scalar, point, product.
PRODUCTS = (
    (
        "a546e36bf0527c9d3b16154b82465edd62144c0ac1fc5a18506a2244ba449ac4",
        "e6db6867583030db3594c1a424b15f7c726624ec26b3353b10a903a6d0ab1c4c",
        "c3da55379de9c6908e94ea4df28d084f32eccf03491c71f754b4075577a28552",
    ),
    (
        "4b66e9d4d1b4673c5ad22691957d6af5c11b6421e0ea01d42ca4169e7918ba0d",
        "e5210f12786811d3f4b7959d0538ae2c31dbe7106fc03c3efc4cd549c715a493",
        "95cbde9476e8907d7aade45cb4b873f88b595a68799fa152e6f8f7647aac7957",
    ),
)
# Section 6.1: Bob's secret, both public keys, and what Alice and Bob agree on.
BOB = bytes.fromhex("5dab087e624a8a4b79e17f8b83800ee66f3bb1292618b6fd1c2f8b27ff88e0eb")
BOB_PUBLIC = "de9edb7d7b7dc1b4d35b61c2ece435373f8343c85b78674dadfc7e146f882b4f"
ALICE_PUBLIC = "8520f0098930a754748b7ddcb43ef75a0dbf3a0d26381af4eba4a98eaa9b4e6a"
BOTH = "4a5d9d5ba4ce2de1728e3bf480350f25e07e21c947d19e3376f09b3c1e161742"
SESSION = bytes(range(32))
HERE, THERE = b"\x01" * 32, b"\x02" * 32


@pytest.mark.parametrize(("scalar", "point", "product"), PRODUCTS)
def test_products_are_those_of_the_standard(
    scalar: str, point: str, product: str
) -> None:
    assert agreed(bytes.fromhex(scalar), bytes.fromhex(point)).hex() == product


def test_two_sides_agree_as_in_the_standard() -> None:
    assert public_of(BOB).hex() == BOB_PUBLIC
    assert agreed(BOB, bytes.fromhex(ALICE_PUBLIC)).hex() == BOTH


def test_a_derived_key_is_that_of_the_standard(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # RFC 5869, test case 1 (SHA-256): our keys are its first 32 bytes, if salt and info
    # stand where they should. Its info is no text of ours, so that it is put in place.
    purpose = []

    def info(*parts: bytes | str | int) -> bytes:
        purpose.append(parts)
        return bytes(range(0xF0, 0xFA))

    monkeypatch.setattr(keys, "told", info)
    found = derived(b"\x0b" * 22, bytes(range(13)), "seal", 4, 9).hex()
    assert found == "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf"
    assert purpose == [(PROTOCOL, "seal", 4, 9)]


@pytest.mark.parametrize("public", [bytes(32), (1).to_bytes(32, "little"), b"short"])
def test_a_key_at_which_all_secrets_agree_is_refused(public: bytes) -> None:
    with pytest.raises(ProtocolError, match="FS6010"):
        agreed(HERE, public)


def test_both_sides_find_the_same_pair_key_and_no_other_pair_does() -> None:
    context = bytes(32)
    ours = pair_key(HERE, public_of(THERE), SESSION, context, (4, 9))
    theirs = pair_key(THERE, public_of(HERE), SESSION, context, (9, 4))
    others = {
        pair_key(HERE, public_of(THERE), SESSION, context, (4, 8)),
        pair_key(HERE, public_of(THERE), SESSION[::-1], context, (4, 9)),
        pair_key(HERE, public_of(THERE), SESSION, b"\x01" * 32, (4, 9)),
        own_key(HERE, SESSION, context, 4),
        own_key(HERE, SESSION, context, 9),
        derived(agreed(HERE, public_of(THERE)), SESSION, "seal", 4, 9),
    }
    assert ours == theirs
    assert len(others) == 6
    assert ours not in others


def test_a_letter_is_read_by_its_receiver_alone_and_only_as_it_was_written() -> None:
    text = b"shares"
    letter = sealed(HERE, public_of(THERE), SESSION, (4, 9), text)
    assert unsealed(THERE, public_of(HERE), SESSION, (4, 9), letter) == text
    changed = bytes([letter[0] ^ 1]) + letter[1:]
    for session, way, found in (
        (SESSION, (4, 9), changed),
        (SESSION, (9, 4), letter),
        (SESSION, (4, 8), letter),
        (SESSION[::-1], (4, 9), letter),
        (SESSION, (4, 9), b""),
    ):
        with pytest.raises(ProtocolError, match=f"FS6010.*site {way[0]}"):
            unsealed(THERE, public_of(HERE), session, way, found)


def test_no_two_lists_are_told_alike() -> None:
    assert told("ab", "c") != told("a", "bc")
    assert told(1) != told("1") != told(b"1")
    assert told(told("a")) != told("a")
    assert numbers([3, 1]) == numbers((1, 3)) != numbers([1, 3, 3])


def test_a_commitment_binds_to_seed_session_and_site() -> None:
    found = {
        commitment(HERE, SESSION, 1),
        commitment(THERE, SESSION, 1),
        commitment(HERE, SESSION, 2),
        commitment(HERE, SESSION[::-1], 1),
    }
    assert len(found) == 4
