"""A method whose mean has noise on it, so that it tells little of any one site.

Let x_k be what site k adds to the model: its share times its step, over all floating
numbers that travel, batch-norm statistics included, shortened to the norm `clip`. What
is released is the sum of all x_k, each number with noise of the standard deviation
noise_multiplier * clip. Put zero in the place of site k: then x_k becomes 0, and no
other x_j changes, for the share that x_j was made with depends on
- counts of images, which are public: they are agreed on before the run;
- statistics of site k only as released, with noise of their own and accounted for;
- nothing else: the number of its pseudo-labels is not used here.
So the sum changes by at most `clip`, and the round is one Gaussian mechanism of that
noise multiplier, beside the one of the statistics. docs/privacy-budget.md has it whole.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from fedsemi.config.privacy import PrivacySettings
from fedsemi.contributions import by_data_size
from fedsemi.errors import ConfigError
from fedsemi.messages import Update, Weights, public
from fedsemi.method import Method, WrappedMethod
from fedsemi.methods.averaging import Averaging
from fedsemi.methods.supervised import SupervisedFedAvg
from fedsemi.noise import Numbers, shortened, with_noise
from fedsemi.privacy.model_sum import moved, num_floats
from fedsemi.state import S

Shares = Callable[[Sequence[Update]], Tensor]


class Noised(WrappedMethod[S]):
    """Averages as another method does, step by step, with noise on the sum."""

    def __init__(
        self, method: Method[S], privacy: PrivacySettings, key: bytes, stage: int
    ) -> None:
        super().__init__(method)
        self._shares = shares_of(method)
        self._privacy = privacy
        self._key = key
        self._stage = stage

    def aggregate(self, state: S, updates: Sequence[Update]) -> S:
        """Move the model by the noisy sum of all steps."""
        shares = self._shares([public(update) for update in updates])
        total, clip = np.zeros(num_floats(state.whole)), self._privacy.clip
        start = flat(state.whole)
        for update, share in zip(updates, shares.tolist(), strict=True):
            total += contribution(update.weights, start, share, clip)
        deviation = self._privacy.noise_multiplier * clip
        purpose = ("sum", self._stage, state.round)
        noisy = with_noise(total, deviation, self._key, *purpose)
        return state.advanced(moved(state.whole, noisy), updates, shares)


def contribution(local: Weights, start: Numbers, share: float, clip: float) -> Numbers:
    """Return x_k: at most `clip` long, whatever a site has sent."""
    return shortened(share * (flat(local) - start), clip)


def shares_of(method: Method[Any]) -> Shares:
    """Return how a method makes shares, if its server step is a mean of them."""
    if isinstance(method, SupervisedFedAvg):
        return by_data_size
    if isinstance(method, Averaging) and _is_plain(method):
        return method.contributions
    raise ConfigError(
        f"the server step of {method.name or type(method).__name__} is no plain mean "
        "of shares, so that noise on it promises nothing; take semianagg, fedavg, "
        "fedavg-semi, uniform-semi or supervised, or privacy.noise_multiplier = 0",
        code="FS6111",
    )


def _is_plain(method: Averaging) -> bool:
    return type(method).aggregate is Averaging.aggregate


def flat(weights: Weights) -> Numbers:
    """Lay all floating numbers out in the order of their names."""
    floats = [weights[k] for k in sorted(weights) if weights[k].is_floating_point()]
    whole: Numbers = torch.cat([f.detach().double().flatten() for f in floats]).numpy()
    return whole
