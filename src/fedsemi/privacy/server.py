"""The server's side of masked sums, without input or output: it learns the sums alone.

See `site` for the protocol. Each step takes what sites answered and returns the session
with it; an answer that does not fit is left out, as if its site were lost.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from fedsemi.errors import ProtocolError
from fedsemi.privacy.accounts import as_integers
from fedsemi.privacy.adverts import believable
from fedsemi.privacy.fixed_point import Integers, from_fixed, zeros
from fedsemi.privacy.groups import Deal
from fedsemi.privacy.identity import signed
from fedsemi.privacy.letters import (
    Account,
    Advert,
    Claimed,
    Consents,
    Envelopes,
    Opened,
    Roster,
    Survivors,
    claims_text,
    session_id,
    sum_context,
)
from fedsemi.privacy.parameters import Phase
from fedsemi.privacy.recovery import Recovery
from fedsemi.privacy.rules import Rules
from fedsemi.privacy.unmasking import Masks

_EMPTY = Roster(adverts=())
_NOTHING = Account(claims={}, own={}, pair={})

Secrets = tuple[dict[int, bytes], dict[int, bytes]]
"""Seeds of own masks of those who are left, and pair keys of the lost."""


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
    claimed: Mapping[int, Claimed] = field(default_factory=dict)
    """Masked claims as they came, for the sites to check."""
    account: Account = _NOTHING
    """How the sum of claims came about, once it is opened."""
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
        roster = Roster(adverts=believable(found, self.id))
        sites = [advert.site for advert in roster.adverts]
        self.rules.check(len(sites), len(sites))
        self.rules.check_unlabeled(sites, roster.unlabeled)
        return replace(self, roster=roster)

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

    def with_claims(self, found: Mapping[int, Claimed], size: int) -> SumSession:
        """Add up masked claims, of those who signed them: all sites will look."""
        among = self.among["claims"]
        signers = {advert.site: advert.signer for advert in self.roster.adverts}
        numbers: dict[int, Integers] = {}
        for id in sorted(found.keys() & set(among)):
            text = claims_text(self.id, id, self.roster, among, found[id].numbers)
            whole = as_integers(found[id], size)
            if whole is not None and signed(signers[id], text, found[id].signature):
                numbers[id] = whole
        session = self.with_numbers("claims", numbers, size)
        self.rules.check_unlabeled(numbers, self.roster.unlabeled)
        return replace(session, claimed={id: found[id] for id in numbers})

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

    def secrets(self, phase: Phase, helped: Mapping[int, Opened]) -> dict[int, Secrets]:
        """Join what helpers opened, for each group's sum by its place."""
        masks, deal = self._masks(phase), self.deal(phase)
        left = set(self.survivors[phase])
        return {
            place: self._secrets(masks, deal.groups[place], left, helped)
            for place in self.masked[phase]
        }

    def opened(
        self, phase: Phase, secrets: Mapping[int, Secrets], bound: bytes
    ) -> dict[int, NDArray[np.float64]]:
        """Take the masks off each group's sum; return the numbers by its place."""
        masks, deal = self._masks(phase), self.deal(phase)
        sums = {}
        for place, total in self.masked[phase].items():
            context = sum_context(phase, self.roster, deal.groups[place], bound)
            bare = total.copy()
            masks.taken_off(bare, *secrets[place], context)
            sums[place] = from_fixed(bare, phase)
        return sums

    def accounted(
        self, secrets: Mapping[int, Secrets], helped: Iterable[int]
    ) -> SumSession:
        """Note how the sum of the claims came about, and who helped to open it."""
        ((own, pair),) = secrets.values()
        account = Account(claims=dict(self.claimed), own=own, pair=pair)
        return replace(self, account=account, helped=tuple(helped))

    def _masks(self, phase: Phase) -> Masks:
        return Masks(phase, self.id, self.roster)

    def _secrets(
        self,
        masks: Masks,
        group: Sequence[int],
        left: set[int],
        whole: Mapping[int, Opened],
    ) -> Secrets:
        """Join shares: of own masks of those who are left, pair keys of the lost."""
        recovery = Recovery(self.needed)
        own: dict[int, bytes] = {}
        pair: dict[int, bytes] = {}
        for site in group:
            there = site in left
            shares = {
                id: (each.own if there else each.pair)[site]
                for id, each in whole.items()
            }
            fits = partial(masks.is_own if there else masks.is_pair, site)
            secret = recovery.secret(shares, fits)
            if secret is None:
                raise ProtocolError(
                    f"the masks of site {site} cannot be taken off: shares of it are "
                    "wrong",
                    code="FS6007",
                )
            (own if there else pair)[site] = secret
        return own, pair


def _sum(parts: Sequence[Integers], phase: Phase, size: int) -> Integers:
    total = zeros(phase, size)
    for numbers in parts:
        total += numbers
    return total
