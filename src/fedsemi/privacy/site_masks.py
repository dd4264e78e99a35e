"""What a site computes from its secrets: the shares of them, and the masks."""

from __future__ import annotations

from fedsemi.errors import ProtocolError
from fedsemi.privacy import shamir
from fedsemi.privacy.fixed_point import Integers
from fedsemi.privacy.keys import own_key, pair_key
from fedsemi.privacy.letters import Roster
from fedsemi.privacy.mask_stream import add_mask, subtract_mask
from fedsemi.privacy.parameters import PHASES, SHARE_BYTES, Phase
from fedsemi.privacy.vault import Record


def split_secrets(
    record: Record, sites: list[int], needed: int
) -> dict[int, tuple[bytes, ...]]:
    """Split both secrets of each sum; a site's place is its number plus one."""
    places = [site + 1 for site in sites]
    split = [
        shamir.split(int.from_bytes(secret, "big"), places, needed)
        for i in range(len(PHASES))
        for secret in (record.own[i], record.pair[i])
    ]
    return {
        site: tuple(part[site + 1].to_bytes(SHARE_BYTES, "big") for part in split)
        for site in sites
    }


def places_of(phase: Phase) -> tuple[int, int]:
    """Say where the shares of a sum's own and pair secret stand."""
    first = 2 * PHASES.index(phase)
    return first, first + 1


def masked(
    record: Record,
    phase: Phase,
    numbers: Integers,
    among: tuple[int, ...],
    context: bytes,
) -> Integers:
    """Add the site's own mask, and with each other site one that cancels with its."""
    total, index = numbers.copy(), PHASES.index(phase)
    me, session = record.advert.site, record.session
    add_mask(total, own_key(record.own[index], session, context, me))
    for advert in roster_of(record).adverts:
        if advert.site == me or advert.site not in among:
            continue
        public, ids = advert.pair[index], (me, advert.site)
        key = pair_key(record.pair[index], public, session, context, ids)
        (add_mask if me < advert.site else subtract_mask)(total, key)
    return total


def roster_of(record: Record) -> Roster:
    """Return the keys of all sites, if they have come."""
    if record.roster is None:
        raise ProtocolError("no keys of other sites have come", code="FS6005")
    return record.roster
