"""How many sites a masked sum needs: agreed on in the plan, computed by everybody."""

from __future__ import annotations

from dataclasses import dataclass

from fedsemi.errors import ConfigError, ProtocolError


@dataclass(frozen=True)
class Rules:
    """What a site goes by, whatever it is told."""

    least_sites: int = 3
    """Fewest sites of a sum."""
    threshold: float = 2 / 3
    """More than this part of those that made keys must help to open a sum."""
    groups: int = 1
    """Most groups in which steps are summed, each of `least_sites` or more."""
    seed: int = 0
    """Of the run and the method; from it sites are dealt into groups."""

    def __post_init__(self) -> None:
        if self.least_sites < 3 or not 0.5 <= self.threshold < 1 or self.groups < 1:
            raise ValueError("sums of fewer than three sites, or opened by a half")

    @property
    def grouped(self) -> bool:
        """Whether steps are summed in groups, if there are sites enough."""
        return self.groups > 1

    def num_groups(self, num_sites: int) -> int:
        """Return into how many groups so many sites are dealt.

        >>> [Rules(groups=3).num_groups(num) for num in (5, 6, 9, 100)]
        [1, 2, 3, 3]
        """
        return max(1, min(self.groups, num_sites // self.least_sites))

    def needed(self, num_sites: int) -> int:
        """Return how many of so many sites open a sum: more than half of them.

        Each of them opens one set of a round only, so that there are never enough for
        two sets, whose difference would be a single site's part.

        >>> Rules().needed(3), Rules().needed(10), Rules(threshold=0.5).needed(10)
        (3, 7, 6)
        """
        return max(int(self.threshold * num_sites) + 1, self.least_sites)

    def check_company(self, num_sites: int) -> None:
        """Refuse groups for which there are too few sites from the beginning."""
        least = 2 * self.least_sites
        if self.grouped and num_sites < least:
            raise ConfigError(
                f"privacy.groups = {self.groups} needs {least} sites, for two groups "
                f"of privacy.least_sites = {self.least_sites}, and {num_sites} take "
                "part; leave it out, or let more sites take part",
                code="FS6020",
            )

    def check(self, num_left: int, num_sites: int) -> None:
        """Refuse to go on among too few."""
        needed = self.needed(num_sites)
        if num_left < needed:
            raise ProtocolError(
                f"a masked sum over {num_left} of {num_sites} sites is refused: "
                f"{needed} are needed",
                code="FS6004",
            )


def require(holds: bool, what: str) -> None:
    """Refuse a step that a site has a reason not to answer."""
    if not holds:
        raise ProtocolError(
            f"a step of a masked sum is refused: {what}; nothing was sent",
            code="FS6005",
        )
