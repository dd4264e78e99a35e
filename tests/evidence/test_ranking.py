"""Average ranks and the critical difference, by hand."""

from __future__ import annotations

import pytest

from fedsemi.evidence.ranking import (
    Ranking,
    critical_difference,
    least_for_pairs,
    least_seeds,
    ranking,
)


def alike(seeds: int, *scores: float) -> dict[str, dict[int, float]]:
    """Give methods a, b, c … the same score with every seed."""
    every = range(1, seeds + 1)
    return {chr(97 + i): dict.fromkeys(every, s) for i, s in enumerate(scores)}


def test_ranks_are_means_over_seeds_and_the_best_comes_first() -> None:
    found = ranking({"a": {1: 70.0, 2: 90.0}, "b": {1: 80.0, 2: 80.0}})
    assert found.names == ("a", "b") and found.ranks == (1.5, 1.5)
    found = ranking({"a": {1: 70.0, 2: 75.0}, "b": {1: 80.0, 2: 80.0}})
    assert found.names == ("b", "a") and found.ranks == (1.0, 2.0)


def test_equal_scores_share_the_mean_of_their_ranks() -> None:
    assert ranking(alike(2, 80.0, 80.0, 70.0)).ranks == (1.5, 1.5, 3.0)


def test_only_seeds_that_all_methods_have_count() -> None:
    found = ranking({"a": {1: 70.0, 2: 90.0, 3: 90.0}, "b": {1: 80.0, 2: 80.0}})
    assert found.seeds == 2
    assert ranking({"a": {1: 70.0}, "b": {2: 80.0}}).ranks == ()
    assert ranking({}).ranks == ()


@pytest.mark.parametrize(
    ("methods", "seeds", "difference"), [(2, 10, 0.62), (4, 14, 1.25), (6, 3, 4.35)]
)
def test_critical_differences_are_those_of_the_tables(
    methods: int, seeds: int, difference: float
) -> None:
    # q at 5 %: 1.960 for two, 2.569 for four, 2.850 for six methods.
    assert critical_difference(methods, seeds) == pytest.approx(difference, abs=0.005)


def test_the_least_seeds_are_the_first_that_fit_on_the_axis() -> None:
    for k in range(2, 9):
        n = least_seeds(k)
        assert critical_difference(k, n) <= k - 1 < critical_difference(k, n - 1 or 0.5)


def test_a_signed_rank_test_of_one_pair_needs_six_seeds() -> None:
    # 2 · 2⁻⁶ = 0.031 is the first least p below 5 %; with three pairs 2⁻⁶ = 0.0156.
    assert [least_for_pairs(n) for n in (1, 3)] == [6, 7]


def test_friedman_sees_an_order_that_every_seed_repeats() -> None:
    assert ranking(alike(5, 90.0, 80.0, 70.0)).p == pytest.approx(0.0067, abs=1e-4)
    assert ranking(alike(5, 80.0, 80.0, 80.0)).p is None


def test_groups_join_what_is_not_told_apart() -> None:
    found = Ranking(("a", "b", "c", "d"), (1.0, 1.5, 3.0, 4.0), 14, 0.001)
    assert found.reach == pytest.approx(1.25, abs=0.005)
    assert found.groups == [(0, 1), (2, 3)]
    assert ("a", "c") in found.apart and ("a", "b") not in found.apart


def test_too_few_seeds_are_said_to_decide_nothing() -> None:
    said = " ".join(ranking(alike(2, 4.0, 3.0, 2.0, 1.0)).sentences)
    assert "decides nothing" in said and f"from {least_seeds(4)} seeds on" in said
    one = ranking(alike(1, 4.0, 3.0))
    assert one.groups == [] and "one decides nothing" in one.sentences[0]
    assert "no ranks" in ranking({}).sentences[0]
