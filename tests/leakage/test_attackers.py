"""Attackers find what was planted, and nothing where nothing is."""

from __future__ import annotations

import numpy as np
import pytest

from fedsemi.leakage.answers import Layout
from fedsemi.leakage.attackers import Found, Look, baseline, views_of
from fedsemi.leakage.attackers import attack as attack_all
from fedsemi.leakage.scores import Table, estimate

SITES, CLASSES = 60, 4


def truth(seed: int) -> Table:
    """Shares of sites, many of which lack some class."""
    random = np.random.default_rng(seed)
    counts = random.multinomial(30, random.dirichlet([0.2] * CLASSES, SITES))
    return counts / 30


def look(shares: Table, seen: Table, groups: Table | None = None) -> Look:
    alone = np.arange(len(shares))[:, None]
    return Look({"seen": seen}, alone if groups is None else groups, shares, shares > 0)


def attack(first: Look, second: Look, judged: Look) -> tuple[Found | None, Found]:
    return attack_all(first, second, judged, {"thing": ["seen"]})["thing"]


def three(seed: int, planted: bool) -> list[Look]:
    sides = []
    for part in range(3):
        shares = truth(10 * seed + part)
        nothing = np.random.default_rng(100 * seed + part).normal(size=(SITES, CLASSES))
        sides.append(look(shares, shares if planted else nothing))
    return sides


def test_where_all_is_told_attackers_find_all() -> None:
    found = [attack(*three(seed, planted=True)) for seed in (1, 2, 3)]
    assert [owned.value for owned, _ in found if owned] == [1.0, 1.0, 1.0]
    assert max(shared.value for _, shared in found) < 0.01


def test_where_nothing_is_told_the_interval_holds_the_guess() -> None:
    """The strongest of several is chosen elsewhere, so luck is not taken for skill."""
    tries = [three(seed, planted=False) for seed in range(1, 7)]
    found = [attack(*each) for each in tries]
    owned = estimate([own.value for own, _ in found if own])
    assert owned.low is not None and owned.high is not None
    assert owned.low <= 0.5 <= owned.high and owned.high - owned.low < 0.2
    gains = [
        shared.value - baseline(each[:2], each[2])
        for (_, shared), each in zip(found, tries, strict=True)
    ]
    assert abs(np.mean(gains)) < 0.01


def test_a_number_that_scales_with_the_share_is_read_whatever_its_unit() -> None:
    sides = [look(shares, 5 - 3 * shares) for shares in map(truth, (1, 2, 3))]
    owned, shared = attack(*sides)
    assert owned is not None and owned.value == 1.0 and "linear" in shared.attacker


def test_a_sum_says_of_a_site_what_its_group_has_in_common() -> None:
    """Of n sites that own alike a sum tells all; of sites that do not, little."""
    sides = []
    for seed in (1, 2, 3):
        shares = truth(seed)
        groups = np.random.default_rng(seed).integers(SITES, size=(150, 10))
        sides.append(look(shares, shares[groups].sum(1), groups))
    owned, _ = attack(*sides)
    assert owned is not None and 0.5 < owned.value < 0.75


def test_who_looks_at_nothing_is_told_apart_by_nothing() -> None:
    shares = np.tile([0.5, 0.5, 0.0, 0.0], (SITES, 1))
    owned, shared = attack(*[look(shares, shares) for _ in range(3)])
    assert owned is None and shared.value == pytest.approx(0.0, abs=1e-6)


def test_a_model_is_looked_at_as_bias_head_norms_and_whole() -> None:
    names = "encoder.conv", "encoder.bn.running_mean", "head.weight", "head.bias"
    layout = Layout(names, ((3,), (2,), (2, 2), (2,)))
    row = np.array([[1, 2, 3, 10, 20, 3, 4, 0, 0, 7, 8]], dtype=np.float32)
    views = views_of(row, layout, 2, np.array([2.0]))
    assert views["head bias"].tolist() == [[7, 8]]
    assert views["head bias per image"].tolist() == [[3.5, 4]]
    assert views["batch norm"].tolist() == [[10, 20]]
    assert views["lengths by class"][0, :2].tolist() == [5, 0]
    assert views["whole model"].shape == (1, 11)


def test_who_sees_two_things_does_as_well_as_with_the_better_of_them() -> None:
    sides = []
    for part in (1, 2, 3):
        shares = truth(part)
        nothing = np.random.default_rng(part).normal(size=(SITES, 3))
        alone = np.arange(SITES)[:, None]
        views = {"good": shares, "bad": nothing}
        sides.append(Look(views, alone, shares, shares > 0))
    things = {"good": ["good"], "bad": ["bad"], "both": ["good", "bad"]}
    found = attack_all(*sides, things)
    assert found["both"] == found["good"] and found["bad"][1].value > 0.3
