"""How much Gaussian noise lets out: ε of any number of releases together.

A release of sensitivity 1 with noise of standard deviation σ, its *noise multiplier*,
costs 1 / σ². Costs add up, also if a release depends on those before: many Gaussian
mechanisms are together exactly as private as one of cost Σ 1 / σ² (Dong, Roth and Su,
Gaussian Differential Privacy, JRSS-B 2022, Corollary 3.3). The δ of that one at a given
ε is told by Google's `dp-accounting`, exactly (its Gaussian privacy loss is the formula
of Balle and Wang, ICML 2018, Theorem 8). Its accountant by grids is not used: a grid as
fine as 1e-4 took 13 s at ε = 92; at about 5,400 its process was killed, probably for
memory. Nothing is gained by asking a random part of the sites: no draw here is secret
and independent.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from fedsemi.errors import ConfigError

_CLOSE = 1e-9
_MANY = 1e8


def cost(noise_multiplier: float) -> float:
    """Return what one release costs; without noise there is no bound.

    >>> cost(2.0), cost(0.0)
    (0.25, inf)
    """
    return math.inf if noise_multiplier == 0 else noise_multiplier**-2


def round_cost(model_noise: float, statistics_noise: float) -> float:
    """Return what a round costs that releases a sum of steps and statistics.

    What has no noise is not counted: nothing is promised of it.

    >>> round_cost(2.0, 1.0), round_cost(0.0, 2.0)
    (1.25, 0.25)
    """
    return sum(cost(noise) for noise in (model_noise, statistics_noise) if noise)


def epsilon(costs: float, delta: float) -> float:
    """Return the least ε at δ of releases with these costs in sum, rounded up.

    >>> round(epsilon(1.0, 1e-5), 3)
    4.377
    >>> epsilon(0.0, 1e-5)
    0.0
    """
    if costs > _MANY:  # no promise at all; a known bound is close, and needs no digits
        return costs / 2 + math.sqrt(2 * costs * math.log(1 / delta))
    if not costs:
        return 0.0
    at = _deltas(costs)
    if at(0.0) <= delta:
        return 0.0
    low, high = 0.0, 1.0
    while at(high) > delta:
        low, high = high, 2 * high
    while high - low > _CLOSE * high:
        middle = (low + high) / 2
        low, high = (middle, high) if at(middle) > delta else (low, middle)
    return high


def check_accountant() -> None:
    """Refuse noise where nothing can account for it."""
    _privacy_loss()


def _deltas(costs: float) -> Callable[[float], float]:
    """Return δ as a function of ε: that of one release with as much noise."""
    loss = _privacy_loss()(standard_deviation=costs**-0.5)
    at: Callable[[float], float] = loss.get_delta_for_epsilon
    return at


def _privacy_loss() -> Any:
    try:
        # Slow to import, and only needed where there is noise.
        from dp_accounting.pld.privacy_loss_mechanism import GaussianPrivacyLoss
    except ModuleNotFoundError as error:
        if (error.name or "").split(".")[0] != "dp_accounting":
            raise
        raise ConfigError(
            "noise is accounted for by the package dp-accounting; install it with: "
            "pip install 'fedsemi[private]'",
            code="FS6114",
        ) from None
    return GaussianPrivacyLoss
