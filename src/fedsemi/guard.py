"""The guard: how far one client may pull the mean, whatever it claims.

It bounds lies; it cannot find them. docs/robustness.md says what stays undefended.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import torch
from pydantic import Field, with_config
from torch import Tensor

from fedsemi.settings import STRICT, Positive, Whole

_TO_SIGMA = 1.4826  # MAD to standard deviation, for a normal distribution
_LEAST_MAD = 0.02  # below it, honest clients that agree would be cut for small talk
_LEAST_PEERS = 3  # two values have no outlier

AtLeastOne = Annotated[float, Field(ge=1)]


@with_config(STRICT)
@dataclass(frozen=True)
class Guard:
    """[guard]: what is done about faulty and lying clients."""

    enabled: bool = False
    """On where sites are not all trusted: it changes shares, hence the method.

    Off by default, so that a simulated method is what it is called; what is deployed
    has it on unless its config says otherwise.
    """
    cap: AtLeastOne = 2.0
    """Largest share of one client in the unlabeled part, in fair shares.

    A fair share is one over the clients that have pseudo-labels in this round.
    """
    spread: Positive = 3.0
    """Diversities above median + spread * sigma of their class are cut to that."""
    norm_limit: AtLeastOne = 2.0
    """Longest step of a client, in medians of all clients' steps."""
    min_labeled: Whole = 1
    """Skip the round if fewer of the labeled clients that were asked have answered."""
    min_unlabeled: Whole = 0
    """The same for unlabeled clients."""

    def trimmed(self, diversity: Tensor) -> Tensor:
        """Cut the claims [K, C] that stand out in their class."""
        return winsorized(diversity, self.spread) if self.enabled else diversity

    def capped(self, shares: Tensor, diversity: Tensor) -> Tensor:
        """Hold every unlabeled share [K] below the cap that the claims [K, C] allow."""
        return capped(shares, self.cap / peers(diversity)) if self.enabled else shares


def winsorized(diversity: Tensor, spread: float = 3.0) -> Tensor:
    """Cut each class [K, C] at median + spread * sigma of the clients that have it.

    A class that fewer than three clients have is left alone. Rare classes are what
    SemiAnAgg rewards, and two values cannot tell who of them lies.
    """
    result = diversity.clone()
    for column in result.unbind(1):
        present = column[column > 0]
        if len(present) >= _LEAST_PEERS:
            middle = present.quantile(0.5)
            mad = (present - middle).abs().quantile(0.5).clamp_min(_LEAST_MAD)
            column.clamp_(max=float(middle + spread * _TO_SIGMA * mad))
    return result


def peers(diversity: Tensor) -> int:
    """Count the clients [K, C] with any diversity; at least three, at most all.

    Clients without pseudo-labels get no share. If they counted, an honest client that
    is confident early would be cut, and the model would stand still. Three, because
    one or two claims give no measure of what is fair.
    """
    claiming = int((diversity > 0).any(1).sum())
    return max(min(max(claiming, _LEAST_PEERS), len(diversity)), 1)


def capped(shares: Tensor, most: float) -> Tensor:
    """Cut shares [K] at the most one may have; never hand the rest to others.

    What is cut off stays on the current global model, because `weighted_mean` keeps
    there what shares leave to one. Handing it on would divide by what is left, which
    may be nothing, and would reward whoever lies second.
    """
    held = shares.nan_to_num(0.0, 0.0, 0.0).clamp(0.0, most)
    # Only unchecked negative claims can make the rest sum to more than one.
    return held / held.sum() if held.sum() > 1 + 1e-9 else held


def clip_scales(norms: Tensor, limit: float = 2.0) -> Tensor:
    """Return by how much to shorten each step [K] so that none exceeds limit medians.

    Fewer than three steps have no outlier.
    """
    if len(norms) < _LEAST_PEERS:
        return torch.ones_like(norms)
    longest = limit * norms.quantile(0.5)
    return torch.where(norms > longest, longest / norms, 1.0)
