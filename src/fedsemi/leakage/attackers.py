"""Attackers: from what is seen to what a site owns, learned at the server's own sites.

Each of several ways to look is tried with each of several learners. The server has two
sets of simulated sites: what it learned from one is tried on the other, and the best
there is taken, learned again from both, and only then judged. The sites that are judged
have no say in which attacker is the strongest.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import RidgeCV
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from fedsemi.leakage.answers import Layout
from fedsemi.leakage.scores import (
    Rows,
    Table,
    constant_guess,
    on_simplex,
    owner_auc,
    total_variation,
)

_WIDE = 256
"""Numbers in a view from which on a forest only costs time."""
_MIXES = (0.0, 0.25, 0.5, 0.75, 1.0)
"""How much of a guess is the attacker's; the rest is the best constant one."""


@dataclass(frozen=True, eq=False)
class Look:
    """What is seen of some groups of sites, by view, and the truth about their sites.

    With sums, all sites of a group get the same guess.
    """

    views: Mapping[str, Rows]
    groups: Any
    """[groups, sites of one]: which rows of the truth each row of a view is of."""
    shares: Table
    owns: Any

    @property
    def wanted(self) -> Table:
        """What there is to learn of each group: mean shares, then mean ownership."""
        both = np.concatenate([self.shares, self.owns.astype(np.float64)], axis=1)
        wanted: Table = both[self.groups].mean(1)
        return wanted

    def auc(self, guess: Table) -> float | None:
        """Judge scores, [groups, C], by who owns which class."""
        size = self.groups.shape[1]
        return owner_auc(guess.repeat(size, 0), self.owns[self.groups.ravel()])

    def variation(self, guess: Table) -> float:
        """Judge guessed shares, [groups, C], by the shares of each site."""
        size = self.groups.shape[1]
        return total_variation(guess.repeat(size, 0), self.shares[self.groups.ravel()])


@dataclass(frozen=True)
class Found:
    """How well the strongest attacker does, and which one it is."""

    value: float
    attacker: str


def attack(
    first: Look, second: Look, judged: Look, things: Mapping[str, Sequence[str]]
) -> dict[str, tuple[Found | None, Found]]:
    """Learn at the server's sites, choose for each thing, and be judged.

    Args:
        first: Simulated sites that are learned from.
        second: Simulated sites at which attackers are chosen.
        judged: The sites in question.
        things: Which views belong to a thing; a view may belong to several.

    Returns:
        For each thing: for the owned classes the AUC, None if there is nothing to tell
        apart; for the class shares the total variation.
    """
    known = Look(
        {k: np.concatenate([first.views[k], second.views[k]]) for k in first.views},
        np.concatenate([first.groups, second.groups + len(first.shares)]),
        np.concatenate([first.shares, second.shares]),
        np.concatenate([first.owns, second.owns]),
    )
    tried = list(_tries(first, second))
    return {
        thing: _judged([t for t in tried if t.view in views], known, second, judged)
        for thing, views in things.items()
    }


def _judged(
    tried: Sequence[_Try], known: Look, second: Look, judged: Look
) -> tuple[Found | None, Found]:
    owning = max(tried, key=lambda t: second.auc(t.owned) or 0.0)
    sharing = min(tried, key=lambda t: t.variation)
    auc = judged.auc(owning.again(known, judged)[1])
    constant = constant_guess(known.shares)
    guess = _mixed(sharing.again(known, judged)[0], constant, sharing.mix)
    return (
        None if auc is None else Found(auc, owning.name),
        Found(judged.variation(guess), sharing.name if sharing.mix else "constant"),
    )


@dataclass(frozen=True, eq=False)
class _Try:
    """An attacker that learned from the first set and was tried on the second."""

    name: str
    learn: Callable[[Rows, Table], Callable[[Rows], Table]]
    view: str
    owned: Table
    mix: float
    variation: float

    def again(self, known: Look, judged: Look) -> tuple[Table, Table]:
        guess = self.learn(known.views[self.view], known.wanted)(
            judged.views[self.view]
        )
        return _halves(guess)


def _tries(first: Look, second: Look) -> Iterator[_Try]:
    wanted, constant = first.wanted, constant_guess(first.shares)
    for view, rows in first.views.items():
        for name, learn in _learners(rows.shape[1], wanted.shape[1] // 2):
            shares, owned = _halves(learn(rows, wanted)(second.views[view]))
            mixes = {
                mix: second.variation(_mixed(shares, constant, mix)) for mix in _MIXES
            }
            mix = min(mixes, key=mixes.__getitem__)
            yield _Try(f"{name}, {view}", learn, view, owned, mix, mixes[mix])


def _halves(guess: Table) -> tuple[Table, Table]:
    half = guess.shape[1] // 2
    return guess[:, :half], guess[:, half:]


def _mixed(guess: Table, constant: Table, mix: float) -> Table:
    """Go from the best constant guess toward the attacker's."""
    mixed: Table = mix * on_simplex(guess) + (1 - mix) * constant
    return mixed


def baseline(known: Sequence[Look], judged: Look) -> float:
    """Return the total variation of who looks at nothing."""
    constant = constant_guess(np.concatenate([each.shares for each in known]))
    return judged.variation(np.tile(constant, (len(judged.groups), 1)))


Learner = Callable[[Rows, Table], Callable[[Rows], Table]]


def _learners(width: int, num_classes: int) -> Iterator[tuple[str, Learner]]:
    yield (
        "linear",
        _with(lambda: RidgeCV(np.logspace(-3, 5, 17), alpha_per_target=True)),
    )
    yield "nearest", _with(lambda: KNeighborsRegressor(5, weights="distance"))
    if width <= _WIDE:
        yield (
            "forest",
            _with(lambda: RandomForestRegressor(30, max_features=0.4, random_state=1)),
        )
    if width == num_classes:
        yield "as it is", _read


def _with(make: Callable[[], Any]) -> Learner:
    def learn(rows: Rows, wanted: Table) -> Callable[[Rows], Table]:
        fitted = make_pipeline(StandardScaler(), make()).fit(rows, wanted)
        return lambda unknown: fitted.predict(unknown).astype(np.float64)

    return learn


def _read(rows: Rows, wanted: Table) -> Callable[[Rows], Table]:
    """Learn nothing: a number for each class is taken for its share."""

    def guess(unknown: Rows) -> Table:
        numbers = unknown.astype(np.float64)
        return np.concatenate([on_simplex(numbers), numbers], axis=1)

    return guess


def views_of(
    rows: Rows, layout: Layout, num_classes: int, images: Table
) -> dict[str, Rows]:
    """Lay out the ways to look at steps of models.

    Args:
        rows: One step in each.
        layout: Where its tensors lie.
        num_classes: C.
        images: How many images each is of, which sites tell: more images, more steps.
    """
    bias, head = layout.places("head.bias"), layout.places("head.weight")
    norm = layout.places("encoder.", "running_")
    whole = rows[:, np.concatenate([bias, head])]
    by_class = rows[:, head].reshape(len(rows), num_classes, -1)
    lengths = np.linalg.norm(by_class, axis=2)
    step = np.linalg.norm(rows, axis=1, keepdims=True)
    each = np.maximum(images, 1)[:, None].astype(rows.dtype)
    found = {
        "head bias": rows[:, bias],
        "head bias per image": rows[:, bias] / each,
        "head": whole,
        "head per image": whole / each,
        "batch norm": rows[:, norm],
        "lengths by class": np.concatenate([lengths, step], axis=1),
        "whole model": rows,
    }
    return {name: view for name, view in found.items() if view.shape[1]}
