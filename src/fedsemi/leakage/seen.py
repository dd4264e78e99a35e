"""What reaches the server's eyes: one site's answer, bits of it, a sum, with noise.

All forms are applied alike to the sites that the server simulates and to those that
are judged, so that an attacker learns from just what it is going to see.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from fedsemi.contributions import by_data_size
from fedsemi.leakage.answers import STATISTIC, Answers, Single
from fedsemi.leakage.scores import Rows
from fedsemi.method import Method

Groups = npt.NDArray[np.int64]

_BY_SIZE = ("supervised", "cbafed")
"""Methods that average by data size without naming shares to the guard."""


@dataclass(frozen=True)
class Form:
    """How much of an answer is seen."""

    sites: int = 1
    """How many answers are summed, as under masks."""
    noise: float = 0.0
    """Standard deviation of the noise in multiples of the clip; 0 for none."""
    bits: bool = False
    """Whether statistics are cut down to zero or not zero."""

    @property
    def name(self) -> str:
        """Name it in records and tables.

        >>> Form(10, 1.0).name, Form(bits=True).name, Form().name
        ('sum of 10 + noise', 'presence', 'plain')
        """
        base = "presence" if self.bits else "plain"
        if self.sites > 1:
            base = f"sum of {self.sites}"
        if not self.noise:
            return base
        return "noise" if self.sites == 1 else f"{base} + noise"

    def shows(self, thing: str, method: Method[Any]) -> bool:
        """Tell whether a thing has such a form under a method."""
        if not self.bits:
            return True
        declared = method.statistics.get(thing.removeprefix(STATISTIC))
        return declared is not None and declared.of_pseudo_labels


def draw_groups(num_sites: int, size: int, count: int, seed: int) -> Groups:
    """Draw who is summed with whom, [count, size].

    With replacement, so that sums vary as those of other federations would; drawing
    most of few sites would make all sums alike. A single site is each one once.
    """
    if size == 1:
        return np.arange(num_sites)[:, None]
    return np.random.default_rng(seed).integers(num_sites, size=(count, size))


def clipped(rows: Rows, clip: float) -> Rows:
    """Shorten rows that are longer than the clip, as client-level privacy asks."""
    length = np.linalg.norm(rows, axis=-1, keepdims=True)
    factor = np.minimum(1.0, clip / np.maximum(length, 1e-12)).astype(rows.dtype)
    short: Rows = rows * factor
    return short


def noised(
    rows: Rows, clip: float, multiplier: float, random: np.random.Generator
) -> Rows:
    """Add Gaussian noise of `multiplier` clips to each number (the Gaussian mechanism).

    Args:
        rows: Sums of clipped vectors, or single ones.
        clip: The longest vector in a sum: its sensitivity to one site.
        multiplier: As in `noise_multiplier`.
        random: Where the noise comes from.
    """
    noise = random.standard_normal(rows.shape, dtype=rows.dtype.type)
    blurred: Rows = rows + noise * rows.dtype.type(multiplier * clip)
    return blurred


def shares_of(method: Method[Any], answers: Answers, groups: Groups) -> Single | None:
    """Return the share of each answer in the mean of its group, as the method has it.

    None for a method whose server step is no mean of shares: it has no masked form.
    """
    found = []
    for group in groups:
        updates = [answers.updates[i] for i in group]
        by_size = method.name in _BY_SIZE
        shares = by_data_size(updates) if by_size else method.contributions(updates)
        if shares is None:
            return None
        found.append(shares.float().numpy())
    return np.array(found)


def clip_of(rows: Rows, groups: Groups, shares: Single | None) -> float:
    """Return the median length of what sites put into a sum: the usual clip."""
    length = np.linalg.norm(rows, axis=1)[groups]
    return float(np.median(length if shares is None else length * shares))


def seen(
    rows: Rows,
    groups: Groups,
    form: Form,
    shares: Single | None,
    clip: float,
    seed: int,
) -> Rows:
    """Return what the server sees of a thing, one row for each group.

    Args:
        rows: One for each site.
        groups: Which sites are summed.
        form: What is done to them.
        shares: Of each site in its group, for the model; None sums as it is.
        clip: Where noise is added, the longest vector in a sum.
        seed: Of the noise.
    """
    if form.bits:
        rows = (rows > 0).astype(rows.dtype)
    result = np.empty((len(groups), rows.shape[1]), dtype=rows.dtype)
    for i, group in enumerate(groups):
        each = rows[group] if shares is None else rows[group] * shares[i][:, None]
        result[i] = (clipped(each, clip) if form.noise else each).sum(0)
    if not form.noise:
        return result
    return noised(result, clip, form.noise, np.random.default_rng(seed))


def forms_of(sums: Sequence[int], noise: float) -> list[Form]:
    """List what is tried: plain, bits, sums, noise, and noise on the middle sum."""
    found = [Form(), Form(bits=True), *(Form(n) for n in sums)]
    if noise:
        found.append(Form(noise=noise))
        found += [Form(sorted(sums)[len(sums) // 2], noise)] if sums else []
    return found
