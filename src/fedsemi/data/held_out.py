"""Which labeled images a client keeps out of training, to measure models with."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from fedsemi.seeds import seed_of

Rows = npt.NDArray[np.int64]


def hold_out(
    labeled: Rows, groups: Rows | None, fraction: float, seed: int, client: int
) -> tuple[Rows, Rows]:
    """Divide a client's labeled rows into those to learn from and those held out.

    Args:
        labeled: Rows of the data set.
        groups: The group of every row of the data set; a group is never torn apart.
        fraction: About this part is held out, and never everything.
        seed: Of the draw, together with the client's id.
        client: Whose rows these are.

    Returns:
        Rows to learn from and rows held out, both in their old order.
    """
    wanted = round(fraction * len(labeled))
    if not wanted:
        return labeled, labeled[:0]
    owner = labeled if groups is None else groups[labeled]
    rng = np.random.default_rng(seed_of(seed, "held out", client))
    order = rng.permutation(np.unique(owner))
    sizes = np.array([(owner == group).sum() for group in order])
    taken = order[: np.searchsorted(sizes.cumsum(), wanted) + 1]
    out = np.isin(owner, taken[: len(order) - 1])
    return labeled[~out], labeled[out]
