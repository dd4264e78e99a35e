"""How many sites a masked sum needs: agreed on in the plan, computed by everybody."""

from __future__ import annotations

from dataclasses import dataclass

from fedsemi.errors import ProtocolError


@dataclass(frozen=True)
class Rules:
    """What a site goes by, whatever it is told."""

    least_sites: int = 3
    """Fewest sites of a sum."""
    threshold: float = 2 / 3
    """More than this part of those that made keys must help to open a sum."""

    def __post_init__(self) -> None:
        if self.least_sites < 3 or not 0.5 <= self.threshold < 1:
            raise ValueError("sums of fewer than three sites, or opened by a half")

    def needed(self, num_sites: int) -> int:
        """Return how many of so many sites open a sum: more than half of them.

        Each of them opens one set of a round only, so that there are never enough for
        two sets, whose difference would be a single site's part.

        >>> Rules().needed(3), Rules().needed(10), Rules(threshold=0.5).needed(10)
        (3, 7, 6)
        """
        return max(int(self.threshold * num_sites) + 1, self.least_sites)

    def check(self, num_left: int, num_sites: int) -> None:
        """Refuse to go on among too few."""
        needed = self.needed(num_sites)
        if num_left < needed:
            raise ProtocolError(
                f"a masked sum over {num_left} of {num_sites} sites is refused: "
                f"{needed} are needed",
                code="FS6004",
            )
