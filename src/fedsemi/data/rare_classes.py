"""A partition by design: few unlabeled sites hold half of the classes.

Nothing but the number of holders, the labels and the skew varies, so that the question
when weights of sites matter can be asked one axis at a time.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from pydantic import with_config

from fedsemi.errors import DataError
from fedsemi.settings import STRICT, Count, Share

Rows = npt.NDArray[np.int64]


@with_config(STRICT)
@dataclass(frozen=True)
class RareClasses:
    """[partition.rare]: who holds the second half of the classes."""

    holders: Count = 1
    """Unlabeled sites whose own classes are the second half; the first half's else."""
    labeled_size: Count = 200
    """Images of the labeled site, as many of each class."""
    site_size: Count = 500
    """Images of each unlabeled site."""
    skew: Share = 1.0
    """Part of a site's images that is of its own classes; the rest is of all."""

    def buckets(
        self, truth: Rows, num_classes: int, num_clients: int, seed: int
    ) -> list[Rows]:
        """Draw the rows of each site; the labeled one comes first, then the holders.

        Raises:
            DataError: There are not enough sites, or not enough images of a class.
        """
        if self.holders > num_clients - 2:
            raise DataError(
                f"partition.rare.holders = {self.holders}, but {num_clients} clients "
                "are one labeled, the holders, and at least one other; use more "
                "clients or fewer holders",
                "FS3011",
            )
        wanted = self.counts(num_classes, num_clients)
        rng = np.random.default_rng(seed)
        dealt: list[list[Rows]] = [[] for _ in range(num_clients)]
        for label, amounts in enumerate(wanted.T):
            members = rng.permutation(np.flatnonzero(truth == label))
            if amounts.sum() > len(members):
                raise DataError(
                    f"the partition needs {amounts.sum()} images of class {label}, "
                    f"and there are {len(members)}; use a smaller "
                    "partition.rare.site_size or labeled_size",
                    "FS3010",
                )
            for bucket, piece in zip(
                dealt, np.split(members, np.cumsum(amounts)), strict=False
            ):
                bucket.append(piece)
        return [rng.permutation(np.concatenate(pieces)) for pieces in dealt]

    def counts(self, num_classes: int, num_clients: int) -> Rows:
        """Say how many images of each class each site gets, `[K, C]`."""
        everything = np.arange(num_classes)
        common, rare = np.array_split(everything, 2)
        own = round(self.skew * self.site_size)
        table = np.zeros((num_clients, num_classes), dtype=np.int64)
        table[0] = _evenly(self.labeled_size, everything, num_classes)
        for site in range(1, num_clients):
            group = rare if site <= self.holders else common
            table[site] = _evenly(own, group, num_classes)
            table[site] += _evenly(self.site_size - own, everything, num_classes)
        return table


def _evenly(amount: int, classes: Rows, num_classes: int) -> Rows:
    """Spread an amount over some classes, the rest over the first of them."""
    row = np.zeros(num_classes, dtype=np.int64)
    row[classes] = amount // len(classes)
    row[classes[: amount % len(classes)]] += 1
    return row
