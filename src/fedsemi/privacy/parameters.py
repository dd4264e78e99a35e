"""The constants of masked sums, all in one place."""

from __future__ import annotations

from typing import Literal

PROTOCOL = b"fedsemi masked sum 2"
"""Stands in every derived key and every signature; raised when either changes."""

DEALT = b"fedsemi masked sum 1"
"""Stands in every deal into groups: no key and no signature, so that it stays."""

PRIME = 2**256 + 297
"""Field of Shamir's shares: the smallest prime that every secret is below."""
SECRET_BYTES = 32
SHARE_BYTES = 33

FRACTION_BITS = 24
"""Binary places of a number in a sum: rounding errs by at most 3e-8."""

Phase = Literal["claims", "model"]
PHASES: tuple[Phase, Phase] = ("claims", "model")
BITS: dict[Phase, int] = {"claims": 64, "model": 32}
"""Integers of a sum are taken modulo 2 to this power. Claims are few numbers, so that
a hundred sites' sums fit in; the model's are as many bytes masked as plain."""

MOST_CLAIM = 2.0**24
"""Largest single claim, e.g. a number of images."""
MOST_CLAIM_BYTES = 8 * 100_001
"""Of a site's claims: one number for its labels, and one for each class."""
MOST_SITES = 1000
LEAST_UNLABELED = 3
"""Sites with unlabeled images in a sum of claims to them: of one it would be its r."""
MOST_TRIES = 1000
"""Choices of shares to find a secret with, where some of them are wrong."""
MOST_ATTEMPTS = 3
"""Times that a site begins the same round, e.g. for a coordinator that restarted."""

CHUNK_BYTES = 1 << 18
"""Of mask that is made at a time; it stays in the processor's cache."""
