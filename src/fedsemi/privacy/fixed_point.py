"""Numbers as integers modulo a power of two: their sums are exact, in any order."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fedsemi.errors import ConfigError, ProtocolError
from fedsemi.privacy.parameters import BITS, FRACTION_BITS, Phase

Integers = NDArray[np.uint32] | NDArray[np.uint64]

NO_NUMBER = "FS6008"

_KINDS: dict[int, tuple[type, type]] = {
    32: (np.uint32, np.int32),
    64: (np.uint64, np.int64),
}


def zeros(phase: Phase, size: int) -> Integers:
    """Return an empty sum."""
    return np.zeros(size, dtype=_KINDS[BITS[phase]][0])


def to_fixed(values: NDArray[np.float64], phase: Phase) -> Integers:
    """Round numbers to integers modulo 2 ** bits; refuse one that has no place there.

    >>> to_fixed(np.array([1.0, -1.0]), "model").tolist()
    [16777216, 4278190080]
    """
    unsigned, signed = _KINDS[BITS[phase]]
    scaled = np.rint(values * 2.0**FRACTION_BITS)
    # So that NaN is beyond, too; a float cannot name the largest integer of 64 bits.
    if not bool((np.abs(scaled) < 2.0 ** (BITS[phase] - 1)).all()):
        raise ProtocolError(
            "a number is not finite, or too large for a masked sum; nothing was sent",
            code="FS6008",
        )
    whole: Integers = scaled.astype(signed).view(unsigned)
    return whole


def from_fixed(total: Integers, phase: Phase) -> NDArray[np.float64]:
    """Return the numbers that a sum stands for."""
    whole: NDArray[Any] = total.view(_KINDS[BITS[phase]][1])
    return whole.astype(np.float64) / 2.0**FRACTION_BITS


def check_room(most: float, num_sites: int, phase: Phase) -> None:
    """Refuse a sum that could run over.

    Args:
        most: Largest absolute value that the sum of all sites may have.
        num_sites: Each of which may round by half a unit.
        phase: Which sum.
    """
    if most * 2.0**FRACTION_BITS + num_sites / 2 >= 2.0 ** (BITS[phase] - 1):
        raise ConfigError(
            f"a masked sum over {num_sites} sites could reach {most:g}, and its "
            f"{BITS[phase]} bits end at {2.0 ** (BITS[phase] - 1 - FRACTION_BITS):g}; "
            "lower privacy.clip",
            code="FS6003",
        )
