"""Worth from one round's answers, on a model that is one number."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from fedsemi.contributions import by_data_size
from fedsemi.messages import ClientInfo, Update
from fedsemi.state import ServerState
from fedsemi.valuation.coalitions import Coalitions, Remembering


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
    return Coalitions(Mean(), state, [updates], score)


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


class Twice(Mean):
    """Asks in two phases; the mean of the second closes the round."""

    def aggregate(self, state, updates):
        if state.weights["x"].any():
            return super().aggregate(state, updates)
        shares = by_data_size(updates)
        return replace(state, weights=state.mixed(updates, shares))


def test_a_round_of_phases_is_worth_what_its_last_phase_makes() -> None:
    sites = tuple(ClientInfo(id, 10, 0) for id in range(3))
    state = ServerState({"x": torch.zeros(1)}, sites)

    def phase(**answers: float) -> list[Update]:
        return [
            Update(int(id[1:]), 0, {"x": torch.tensor([value])}, 10, 0)
            for id, value in answers.items()
        ]

    phases = [phase(c0=5.0), phase(c1=1.0, c2=3.0)]
    score = lambda weights: np.array([float(weights["x"][0])])  # noqa: E731
    some = Coalitions(Twice(), state, phases, score)
    assert some.clients == [0, 1, 2]
    # All: mean of 1 and 3. Without 1: 3. Without 0 nobody answers the first phase,
    # and the model stays zero.
    gains = {id: float(gain[0]) for id, gain in some.marginals().items()}
    assert gains == pytest.approx({0: 2.0, 1: -1.0, 2: 1.0})


def test_answers_are_remembered_by_phase_until_they_are_taken() -> None:
    sites = (ClientInfo(0, 10, 0),)
    state = ServerState({"x": torch.zeros(1)}, sites)
    answers = [[Update(0, 0, {"x": torch.tensor([v])}, 10, 0)] for v in (5.0, 3.0)]
    method = Remembering(Twice())
    state = method.aggregate(state, answers[0])
    answers[0][0].weights["x"].fill_(7.0)  # as another answer takes its place on disk
    state = method.aggregate(state, answers[1])
    assert state.round == 1
    taken = method.taken()
    assert [float(u.weights["x"][0]) for phase in taken for u in phase] == [5.0, 3.0]
    assert method.taken() == []


def test_it_is_known_whether_the_model_moves_within_a_round() -> None:
    state = ServerState({"x": torch.zeros(1)}, (ClientInfo(0, 10, 0),))
    updates = [Update(0, 0, {"x": torch.ones(1)}, 10, 0)]
    once, twice = Remembering(Mean()), Remembering(Twice())
    once.aggregate(state, updates), twice.aggregate(state, updates)
    assert not once.moved and twice.moved
