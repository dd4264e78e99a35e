"""How much Gaussian noise lets out: ε of any number of releases together.

A release of sensitivity 1 with noise of standard deviation σ, its *noise multiplier*,
costs 1 / σ². Costs add up, also if a release depends on those before: many Gaussian
mechanisms are together exactly as private as one of cost Σ 1 / σ² (Dong, Roth and Su,
Gaussian Differential Privacy, JRSS-B 2022, Corollary 3.3). Its ε at a given δ is exact,
too (Balle and Wang, Improving the Gaussian Mechanism, ICML 2018, Theorem 8). Nothing is
gained by asking a random part of the sites: no draw here is secret and independent.
"""

from __future__ import annotations

import math

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
    if not costs or delta_of(0.0, costs) <= delta:
        return 0.0
    low, high = 0.0, 1.0
    while delta_of(high, costs) > delta:
        low, high = high, 2 * high
    while high - low > _CLOSE * high:
        middle = (low + high) / 2
        low, high = (middle, high) if delta_of(middle, costs) > delta else (low, middle)
    return high


def delta_of(epsilon: float, costs: float) -> float:
    """Return δ at ε: Φ(μ/2 - ε/μ) - exp(ε) Φ(-μ/2 - ε/μ), with μ² the costs."""
    from scipy.special import log_ndtr

    mu = math.sqrt(costs)
    first = float(log_ndtr(mu / 2 - epsilon / mu))
    second = epsilon + float(log_ndtr(-mu / 2 - epsilon / mu))
    # In logarithms, for both are tiny where δ is; the second is never the larger.
    return math.exp(first) * -math.expm1(min(second - first, 0.0))
