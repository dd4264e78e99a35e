"""[[membership]]: which sites come later, leave, or are away for some rounds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pydantic import with_config

from fedsemi.engine import Absence
from fedsemi.errors import ConfigError
from fedsemi.settings import STRICT, Count, Whole


@with_config(STRICT)
@dataclass(frozen=True)
class Member:
    """A site that does not take part in all rounds; these count over all stages."""

    site: Whole
    """Its number. A site that is in no entry takes part from the first round on."""
    joins: Count = 1
    """The first round in which it takes part."""
    leaves: Count | None = None
    """The first round in which it does not any more, and never will."""
    away: Count | None = None
    """The first round in which it is away; what it remembers stays."""
    back: Count | None = None
    """The first round in which it takes part again."""

    def absence(self, round: int) -> Absence | None:
        """Say why the site takes no part in a round; rounds count from one.

        >>> Member(3, joins=4, away=6, back=8).absence(7).reason
        'is away, as planned'
        >>> Member(3, joins=4, away=6, back=8).absence(8) is None
        True
        """
        if self.leaves is not None and round >= self.leaves:
            return Absence("has left, as planned", for_good=True)
        if round < self.joins:
            return Absence("has not come yet, as planned")
        if self.away is not None and self.away <= round < (self.back or round + 1):
            return Absence("is away, as planned")
        return None


def absent(members: Sequence[Member], round: int) -> Mapping[int, Absence]:
    """Say who takes no part in a round, counted from one over all stages."""
    found = ((each.site, each.absence(round)) for each in members)
    return {site: absence for site, absence in found if absence is not None}


def check_membership(members: Sequence[Member], masked: bool) -> None:
    """Refuse an order of events that cannot be, and what masked sums do not allow."""
    if members and masked:
        raise ConfigError(
            "[[membership]] does not go with privacy.masked: sites sum with those "
            "whose keys they have, from the first round to the last; leave one out",
            code="FS4221",
        )
    for number, each in enumerate(members):
        steps = [each.joins, each.away, each.back, each.leaves]
        given = [step for step in steps if step is not None]
        if given != sorted(set(given)) or (each.back and not each.away):
            raise ConfigError(
                f"'membership.{number}': joins, away, back and leaves must be rounds "
                "in this order, and back needs away",
                code="FS4220",
            )
