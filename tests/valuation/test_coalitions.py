"""Worth from one round's answers, on a model that is one number."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from fedsemi.contributions import by_data_size
from fedsemi.messages import ClientInfo, Update
from fedsemi.state import ServerState
from fedsemi.valuation.coalitions import Coalitions


class Mean:
    """Averages by data size."""

    def aggregate(self, state, updates):
        shares = by_data_size(updates)
        return state.advanced(state.mixed(updates, shares), updates, shares)


def coalitions(answers: dict[int, float]) -> Coalitions:
    sites = tuple(ClientInfo(id, 10, 0) for id in answers)
    state = ServerState({"x": torch.zeros(1)}, sites)
    updates = [
        Update(id, 0, {"x": torch.tensor([value])}, 10, 0)
        for id, value in answers.items()
    ]
    # The right answer is 1; the score is minus the distance from it.
    score = lambda weights: np.array([-abs(float(weights["x"][0]) - 1)])  # noqa: E731
    return Coalitions(Mean(), state, updates, score)


def test_marginals_are_what_the_others_lack() -> None:
    # Mean of 1, 1, 4 is 2: score -1. Without 9: mean 1, score 0. Without another: 2.5.
    found = coalitions({2: 1.0, 5: 1.0, 9: 4.0}).marginals()
    assert {id: float(gain[0]) for id, gain in found.items()} == pytest.approx(
        {2: 0.5, 5: 0.5, 9: -1.0}
    )


def test_client_nines_worth_appears_under_nine() -> None:
    some = coalitions(dict.fromkeys(range(12), 1.0) | {9: 25.0})
    assert some.clients == list(range(12))
    marginals = some.marginals()
    assert min(marginals, key=lambda id: float(marginals[id][0])) == 9
    mean = some.shapley(10, 0.0, 1).mean(0)
    assert int(mean.argmin()) == 9


def test_shapley_values_share_out_the_whole_gain() -> None:
    some = coalitions({2: 1.0, 5: 0.5, 9: 4.0})
    added = some.shapley(permutations=50, tolerance=0.0, seed=0)
    whole = some.value(frozenset({2, 5, 9})) - some.value(frozenset())
    np.testing.assert_allclose(added.sum(1), whole[0])


def test_equal_clients_have_equal_shapley_values() -> None:
    added = coalitions({1: 0.5, 3: 0.5}).shapley(400, 0.0, 0)
    # The first to join brings the whole 0.5, the second nothing: 0.25 each.
    np.testing.assert_allclose(added.mean(0), [0.25, 0.25], atol=0.04)
