"""Taking masks off a sum: by the server, and by every site that checks its word."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from fedsemi.privacy.fixed_point import Integers
from fedsemi.privacy.keys import commitment, own_key, pair_key, public_of
from fedsemi.privacy.letters import Advert, Roster
from fedsemi.privacy.mask_stream import add_mask, subtract_mask
from fedsemi.privacy.parameters import PHASES, Phase


@dataclass(frozen=True)
class Masks:
    """The masks of one sum, by what everybody knows of them."""

    phase: Phase
    session: bytes
    roster: Roster

    def is_own(self, site: int, seed: bytes) -> bool:
        """Tell whether a site is bound to this seed of its own mask."""
        due = self._advert(site).own[PHASES.index(self.phase)]
        return commitment(seed, self.session, site) == due

    def is_pair(self, site: int, secret: bytes) -> bool:
        """Tell whether this is the secret of a site's pair key."""
        return public_of(secret) == self._public(site)

    def taken_off(
        self,
        total: Integers,
        own: Mapping[int, bytes],
        pair: Mapping[int, bytes],
        context: bytes,
    ) -> None:
        """Take own masks of those who are left off, and their masks with the lost.

        Args:
            total: The masked sum of those who are left, changed in place.
            own: The seeds of their own masks.
            pair: The secrets of the pair keys of those who are lost.
            context: What the masks are bound to.
        """
        for site, seed in own.items():
            subtract_mask(total, own_key(seed, self.session, context, site))
        for lost, secret in pair.items():
            for site in own:
                ids = site, lost
                key = pair_key(secret, self._public(site), self.session, context, ids)
                (subtract_mask if site < lost else add_mask)(total, key)

    def all_fit(
        self,
        own: Mapping[int, bytes],
        pair: Mapping[int, bytes],
        group: tuple[Collection[int], Collection[int]],
    ) -> bool:
        """Tell whether these are the secrets of those who are left, and of the lost."""
        left, lost = group
        return (
            own.keys() == set(left)
            and pair.keys() == set(lost)
            and all(self.is_own(site, seed) for site, seed in own.items())
            and all(self.is_pair(site, secret) for site, secret in pair.items())
        )

    def _public(self, site: int) -> bytes:
        return self._advert(site).pair[PHASES.index(self.phase)]

    def _advert(self, site: int) -> Advert:
        return next(each for each in self.roster.adverts if each.site == site)
