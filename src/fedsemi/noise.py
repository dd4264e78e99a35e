"""Gaussian noise that only who holds a key knows, and the same for the same values.

The numbers come from SHAKE-256 of the key, of what the noise is for and of the very
values that it is added to. In a simulation the key is a seed, so that a run can be
repeated. In a deployment it is a secret of 32 random bytes, for a noise that somebody
else can compute hides nothing. The same values get the same noise again: a question
that is repeated has one answer, whose noise cannot be averaged away. Other values get
other noise, so that no difference of two answers is bare of it. A secret is another one
for each plan: the same noise twice, in two sizes, could be worked out.

It is a continuous Gaussian in floating point, whose last bits are known to say more
than a real number would (Mironov, CCS 2012). Nothing is promised against who reads
those.
"""

from __future__ import annotations

import hashlib
import secrets
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from fedsemi.errors import StorageError
from fedsemi.storage import locked, write_whole

SECRET = "noise.secret"
_BYTES = 32
Numbers = NDArray[np.float64]


def with_noise(
    values: Numbers, deviation: float, key: bytes, *purpose: int | str
) -> Numbers:
    """Add noise of a standard deviation to numbers.

    Args:
        values: Whose noise depends on them.
        deviation: Of each number's noise.
        key: Seed or secret.
        *purpose: Names what the noise is for.
    """
    named = "\x1f".join(f"{type(part).__name__}:{part}" for part in purpose).encode()
    seen = hashlib.sha256(np.ascontiguousarray(values).tobytes()).digest()
    pairs = (values.size + 1) // 2
    stream = hashlib.sha256(key).digest() + hashlib.sha256(named).digest() + seen
    raw = np.frombuffer(hashlib.shake_256(stream).digest(16 * pairs), dtype="<u8")
    # 53 bits each, the first never zero, for its logarithm is taken (Box and Muller).
    first, second = ((raw >> np.uint64(11)).astype(np.float64) / 2.0**53).reshape(2, -1)
    radius, angle = np.sqrt(-2 * np.log(1 - first)), 2 * np.pi * second
    normal = np.concatenate([radius * np.cos(angle), radius * np.sin(angle)])
    noisy: Numbers = values + deviation * normal[: values.size].reshape(values.shape)
    return noisy


def shortened(values: Numbers, longest: float) -> Numbers:
    """Scale numbers so that their Euclidean norm is at most `longest`.

    >>> shortened(np.array([6.0, 8.0]), 5.0).tolist()
    [3.0, 4.0]
    """
    length = float(np.sqrt(np.sum(np.square(values))))
    return values if length <= longest else values * (longest / length)


def secret_of(folder: Path, plan: str) -> bytes:
    """Return what a site or coordinator makes the noise of a plan from.

    Two plans that differ in nothing but the size of their noise have the same values
    in their first round. Their noise must have nothing in common.

    Args:
        folder: Where the secret lies; one is made where there is none.
        plan: Its hash.
    """
    path = folder / SECRET
    with locked(folder):  # each message at a site has a process of its own
        if not path.exists():
            write_whole(path, secrets.token_bytes(_BYTES), private=True)
    found = path.read_bytes()
    if len(found) != _BYTES:
        raise StorageError(
            f"'{path}' does not hold {_BYTES} bytes; remove it for a new one, but only "
            "if no round is under way",
            code="FS6104",
        )
    return hashlib.sha256(found + plan.encode()).digest()
