"""Groups of a round: who sums the steps with whom.

Nobody chooses them at run time. The order of the sites follows from the plan's seed and
the round by a hash, which every site computes for itself; a coordinator that tells
other groups is refused. Neighbors in that order are a group, so that a site that is
called lost moves the borders by one place and deals nobody else anew.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Self

from fedsemi.errors import ProtocolError
from fedsemi.privacy.keys import hashed
from fedsemi.privacy.parameters import PROTOCOL, Phase
from fedsemi.privacy.rules import Rules

Group = tuple[int, ...]


@dataclass(frozen=True)
class Deal:
    """The groups of one sum; each of them is masked and opened for itself."""

    groups: tuple[Group, ...]

    @classmethod
    def of(
        cls,
        phase: Phase,
        sites: Collection[int],
        rules: Rules,
        round: int,
    ) -> Self:
        """Deal sites into as many groups as the plan wants and their number allows.

        Claims are one sum over all: shares are made of the sums over everybody.

        >>> deal = Deal.of("model", range(10), Rules(groups=3), 0)
        >>> sorted(len(group) for group in deal.groups)
        [3, 3, 4]
        >>> Deal.of("model", range(5), Rules(groups=3), 0).groups
        ((0, 1, 2, 3, 4),)
        """
        num = 1 if phase == "claims" else rules.num_groups(len(sites))
        order = sorted(
            sites, key=lambda site: hashed(PROTOCOL, "deal", rules.seed, round, site)
        )
        borders = [i * len(order) // num for i in range(num + 1)]
        return cls(
            tuple(tuple(sorted(order[borders[i] : borders[i + 1]])) for i in range(num))
        )

    def of_site(self, site: int) -> Group:
        """Return the group of a site; none if it was not dealt."""
        return next((group for group in self.groups if site in group), ())

    def left(self, sites: Collection[int]) -> tuple[Group, ...]:
        """Return who is left of each group, given all that are."""
        there = set(sites)
        return tuple(
            tuple(site for site in group if site in there) for group in self.groups
        )

    def summed(self, came: Collection[int], rules: Rules) -> tuple[Group, ...]:
        """Return of whom each group's sum is: nobody, where too few of it came."""
        return tuple(
            left if len(left) >= rules.least_sites else () for left in self.left(came)
        )

    def voters(self, sites: Collection[int]) -> set[int]:
        """Return who may sign a set: all in it, and groups that are wholly outside.

        These sum nothing, but hold shares that the others need.
        """
        pairs = zip(self.groups, self.left(sites), strict=True)
        return {site for group, left in pairs for site in left or group}

    def missing(self, sites: Collection[int]) -> Group:
        """Return who is lost of the groups that are summed."""
        pairs = zip(self.groups, self.left(sites), strict=True)
        lost = [set(group) - set(left) for group, left in pairs if left]
        return tuple(sorted(set[int]().union(*lost)))

    def check(self, sites: Collection[int], rules: Rules, num_sites: int) -> None:
        """Refuse a set in which a group is neither left out nor large enough.

        Args:
            sites: Whose sums are to be opened.
            rules: What is agreed on.
            num_sites: That made keys.
        """
        if len(self.groups) == 1:
            rules.check(len(sites), num_sites)
            return
        lefts = [left for left in self.left(sites) if left]
        fewest = min((len(left) for left in lefts), default=0)
        if fewest < rules.least_sites:
            raise ProtocolError(
                f"a masked sum over {fewest} sites of a group is refused: "
                f"{rules.least_sites} are needed",
                code="FS6004",
            )
