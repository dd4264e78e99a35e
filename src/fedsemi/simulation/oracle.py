"""The truth that no client knows: for evaluation of simulations, and for nothing else.

No code that runs on a client may import this package; a test holds it to that.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from torch import Tensor


@dataclass(frozen=True, eq=False)
class Oracle:
    """The true labels of the clients' unlabeled samples."""

    truth: Mapping[int, Tensor]
    """By client id, int64 [N^U]."""

    def accuracy(self, client: int, pseudo_label: Tensor) -> float | None:
        """Return which part of the given pseudo-labels is right; -1 stands for none.

        None if nothing was labeled.
        """
        given = pseudo_label >= 0
        if not given.any():
            return None
        return float((pseudo_label == self.truth[client])[given].float().mean())
