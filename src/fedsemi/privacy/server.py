"""The server's side of masked sums, without input or output: it learns the sums alone.

See `site` for the protocol. Each step takes what sites answered and returns the session
with it; an answer that does not fit is left out, as if its site were lost.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from fedsemi.errors import ProtocolError
from fedsemi.privacy import shamir
from fedsemi.privacy.fixed_point import Integers, from_fixed, zeros
from fedsemi.privacy.groups import Deal
from fedsemi.privacy.keys import agreed, commitment, own_key, pair_key, public_of
from fedsemi.privacy.letters import (
    Advert,
    Consents,
    Envelopes,
    Opened,
    Roster,
    Survivors,
    session_id,
    sum_context,
)
from fedsemi.privacy.mask_stream import add_mask, subtract_mask
from fedsemi.privacy.parameters import PHASES, PRIME, SECRET_BYTES, Phase
from fedsemi.privacy.rules import Rules

_EMPTY = Roster(adverts=())
_ANY = bytes(range(32))
"""A secret that is none, to try public keys with."""


@dataclass(frozen=True, eq=False)
class SumSession:
    """What the server knows of the two sums of a round."""

    rules: Rules
    context: str
    round: int
    nonce: bytes
    roster: Roster = _EMPTY
    envelopes: Mapping[int, Envelopes] = field(default_factory=dict)
    """What each site sealed for the others."""
    among: Mapping[Phase, tuple[int, ...]] = field(default_factory=dict)
    """Who may be in a sum; that of the model has those whose claims were summed."""
    heard: Mapping[Phase, tuple[int, ...]] = field(default_factory=dict)
    """Whose numbers came."""
    survivors: Mapping[Phase, tuple[int, ...]] = field(default_factory=dict)
    """Whose sums are opened: all of them but those of too small groups."""
    masked: Mapping[Phase, Mapping[int, Integers]] = field(default_factory=dict)
    """Sums that are masked still, by the place of a group in the deal."""
    consents: Mapping[Phase, Consents] = field(default_factory=dict)
    helped: tuple[int, ...] = ()
    """Who helped to open the claims, and so saw that others agree on their set."""

    @property
    def id(self) -> bytes:
        """The session's name, which sites compute as well."""
        return session_id(self.context, self.round, self.nonce)

    @property
    def needed(self) -> int:
        """How many sites every step needs from now on."""
        return self.rules.needed(len(self.roster.adverts))

    def with_adverts(self, found: Mapping[int, Advert]) -> SumSession:
        """Take the keys of all that are there."""
        adverts = tuple(
            found[id]
            for id in sorted(found)
            if found[id].site == id and _usable(found[id])
        )
        self.rules.check(len(adverts), len(adverts))
        return replace(self, roster=Roster(adverts=adverts))

    def with_envelopes(self, found: Mapping[int, Envelopes]) -> SumSession:
        """Take the sealed shares; who shared with all others takes part."""
        known = {advert.site for advert in self.roster.adverts}
        whole = {
            id: each
            for id, each in found.items()
            if id in known and each.sealed.keys() == known - {id}
        }
        self.rules.check(len(whole), len(known))
        among: dict[Phase, tuple[int, ...]] = {"claims": tuple(sorted(whole))}
        return replace(self, envelopes=whole, among=among)

    def envelopes_for(self, site: int) -> Envelopes:
        """Collect what the others sealed for a site."""
        others = {id: e for id, e in self.envelopes.items() if id != site}
        return Envelopes(sealed={id: e.sealed[site] for id, e in others.items()})

    def with_numbers(
        self, phase: Phase, found: Mapping[int, Integers], size: int
    ) -> SumSession:
        """Add up masked numbers; whose came are those whose sum is opened."""
        among, deal = self.among[phase], self.deal(phase)
        fitting = {
            id: each for id, each in found.items() if id in among and len(each) == size
        }
        num_sites = len(self.roster.adverts)
        self.rules.check(len(fitting), num_sites)
        summed = deal.summed(fitting, self.rules)
        sites = tuple(sorted(site for group in summed for site in group))
        deal.check(sites, self.rules, num_sites)
        totals = {
            place: _sum([fitting[id] for id in group], phase, size)
            for place, group in enumerate(summed)
            if group
        }
        among_next = {**self.among, "model": sites} if phase == "claims" else self.among
        return replace(
            self,
            among=among_next,
            heard={**self.heard, phase: tuple(sorted(fitting))},
            survivors={**self.survivors, phase: sites},
            masked={**self.masked, phase: totals},
        )

    def deal(self, phase: Phase) -> Deal:
        """Return who sums with whom, as every site computes it."""
        return Deal.of(phase, self.among[phase], self.rules, self.round)

    def survivors_of(self, phase: Phase) -> Survivors:
        """Return the set that sites are asked to agree to."""
        return Survivors(sites=self.survivors[phase])

    def with_consents(self, phase: Phase, found: Mapping[int, bytes]) -> SumSession:
        """Take the signatures under the set."""
        heard = self.heard[phase]
        signed = {id: each for id, each in found.items() if id in heard}
        self.rules.check(len(signed), len(self.roster.adverts))
        consents = {**self.consents, phase: Consents(signatures=signed)}
        return replace(self, consents=consents)

    def helpers(
        self, phase: Phase, found: Mapping[int, Opened]
    ) -> Mapping[int, Opened]:
        """Choose the sites that opened this very set, if they are enough."""
        sites, heard = set(self.survivors[phase]), self.heard[phase]
        lost = set(self.deal(phase).missing(sites))
        whole = {
            id: each
            for id, each in found.items()
            if id in heard and each.own.keys() == sites and each.pair.keys() == lost
        }
        self.rules.check(len(whole), len(self.roster.adverts))
        return whole

    def opened(
        self, phase: Phase, found: Mapping[int, Opened], bound: bytes
    ) -> dict[int, NDArray[np.float64]]:
        """Take the masks off each group's sum; return the numbers by its place."""
        whole, deal = self.helpers(phase, found), self.deal(phase)
        sites = set(self.survivors[phase])
        sums = {}
        for place, total in self.masked[phase].items():
            group = deal.groups[place]
            context = sum_context(phase, self.roster, group, bound)
            left = [site for site in group if site in sites]
            lost = [site for site in group if site not in sites]
            bare = self._bare(phase, total, (left, lost), whole, context)
            sums[place] = from_fixed(bare, phase)
        return sums

    def _bare(
        self,
        phase: Phase,
        masked: Integers,
        group: tuple[Sequence[int], Sequence[int]],
        whole: Mapping[int, Opened],
        context: bytes,
    ) -> Integers:
        """Take own masks of those who are left off, and pair masks with the lost."""
        adverts = {advert.site: advert for advert in self.roster.adverts}
        total, index = masked.copy(), PHASES.index(phase)
        left, all_lost = group
        for site in left:
            shares = {id: each.own[site] for id, each in whole.items()}
            fits = partial(self._is_seed, site, adverts[site].own[index])
            seed = self._secret(shares, site, fits)
            subtract_mask(total, own_key(seed, self.id, context, site))
        for lost in all_lost:
            shares = {id: each.pair[lost] for id, each in whole.items()}
            fits = partial(_is_secret, adverts[lost].pair[index])
            secret = self._secret(shares, lost, fits)
            for site in left:
                public = adverts[site].pair[index]
                key = pair_key(secret, public, self.id, context, (site, lost))
                (subtract_mask if site < lost else add_mask)(total, key)
        return total

    def _is_seed(self, site: int, due: bytes, seed: bytes) -> bool:
        return commitment(seed, self.id, site) == due

    def _secret(
        self, shares: Mapping[int, bytes], site: int, fits: Callable[[bytes], bool]
    ) -> bytes:
        """Join shares; where some of them are wrong, try others in their place."""
        helpers, needed = sorted(shares), self.needed
        values = {id + 1: int.from_bytes(shares[id], "big") % PRIME for id in helpers}
        for start in range(len(helpers) if len(helpers) > needed else 1):
            chosen = (helpers + helpers)[start : start + needed]
            weights = shamir.weights_of(tuple(id + 1 for id in chosen))
            number = shamir.joined(values, weights)
            if number < 2 ** (8 * SECRET_BYTES):
                secret = number.to_bytes(SECRET_BYTES, "big")
                if fits(secret):
                    return secret
        raise ProtocolError(
            f"the masks of site {site} cannot be taken off: shares of it are wrong",
            code="FS6007",
        )


def _sum(parts: Sequence[Integers], phase: Phase, size: int) -> Integers:
    total = zeros(phase, size)
    for numbers in parts:
        total += numbers
    return total


def _is_secret(due: bytes, secret: bytes) -> bool:
    return public_of(secret) == due


def _usable(advert: Advert) -> bool:
    """Tell whether others could use these keys; one bad key would stop them all."""
    try:
        for public in (advert.seal, *advert.pair):
            agreed(_ANY, public)
    except ProtocolError:
        return False
    return True
