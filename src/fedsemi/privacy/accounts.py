"""What the claims of all sites come to, found by a site itself.

Shares follow from these sums, and the sum of the steps from the shares. A server that
could tell other sums would shrink the steps of all sites but one.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fedsemi.errors import ProtocolError
from fedsemi.privacy.fixed_point import Integers, from_fixed, zeros
from fedsemi.privacy.identity import Identity
from fedsemi.privacy.letters import Account, Claimed, claims_text, sum_context
from fedsemi.privacy.parameters import MOST_CLAIM
from fedsemi.privacy.site_masks import roster_of
from fedsemi.privacy.unmasking import Masks
from fedsemi.privacy.vault import Record

_KIND = np.dtype("<u8")


def as_bytes(claims: Integers) -> bytes:
    """Write masked claims as they are signed."""
    return claims.astype(_KIND).tobytes()


def as_integers(claimed: Claimed, size: int) -> Integers | None:
    """Read them; none if there are more or fewer than there should be."""
    if len(claimed.numbers) != size * _KIND.itemsize:
        return None
    return np.frombuffer(claimed.numbers, _KIND).astype(np.uint64)


def claims_total(
    record: Record, account: Account, identity: Identity, size: int
) -> NDArray[np.float64]:
    """Add up the claims that sites have signed, and take the masks off the sum.

    Args:
        record: The site's part in the round, in which a set of claims was agreed on.
        account: What the server was given.
        identity: Says who has signed.
        size: How many claims a site makes.
    """
    roster = roster_of(record)
    sites, among = record.consents["claims"], record.among["claims"]
    masks = Masks("claims", record.session, roster)
    lost = set(among) - set(sites)
    if account.claims.keys() != set(sites) or not masks.all_fit(
        account.own, account.pair, (sites, lost)
    ):
        raise _wrong("secrets or claims are not those of the set that was agreed on")
    signers = {advert.site: advert.signer for advert in roster.adverts}
    total = zeros("claims", size)
    for site, claimed in account.claims.items():
        text = claims_text(record.session, site, roster, among, claimed.numbers)
        numbers = as_integers(claimed, size)
        signed = identity.verify(signers[site], text, claimed.signature)
        if numbers is None or not signed:
            raise _wrong(f"the claims of site {site} are not those that it signed")
        total += numbers
    context = sum_context("claims", roster, among, record.bounds["claims"])
    masks.taken_off(total, account.own, account.pair, context)
    sums = from_fixed(total, "claims")
    if not bool((np.abs(sums) <= len(sites) * MOST_CLAIM).all()):
        raise _wrong("they are larger than claims can be")
    return sums


def _wrong(why: str) -> ProtocolError:
    return ProtocolError(
        f"the sums of claims cannot be found: {why}; no model was sent", code="FS6030"
    )
