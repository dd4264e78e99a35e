"""FedDB, with shares and labels worked by hand."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
import torch

from fedsemi.data.client import Batch
from fedsemi.messages import MEAN_PREDICTION
from fedsemi.methods.feddb import FedDB, exact_shares, released_shares
from fedsemi.methods.server_momentum import MomentumState, stepped
from fedsemi.objectives.debiased import DebiasedPseudoLabel, debiased


def rows(*rows):
    return torch.tensor(rows, dtype=torch.float64)


def test_exact_shares_make_the_mixed_prediction_even():
    # .8 w + .4 (1 − w) = .5 for w = ¼.
    assert exact_shares(rows([0.8, 0.2], [0.4, 0.6])).tolist() == pytest.approx(
        [0.25, 0.75], abs=1e-6
    )


def test_exact_shares_leave_out_who_can_only_harm():
    assert exact_shares(rows([1.0, 0.0], [0.5, 0.5])).tolist() == pytest.approx(
        [0, 1], abs=1e-6
    )


def test_of_several_minimizers_the_most_even_one_is_taken():
    same = exact_shares(rows([0.5, 0.5], [0.5, 0.5], [0.5, 0.5]))
    assert same.tolist() == pytest.approx([1 / 3] * 3)


def test_released_shares_end_where_the_loop_stands_still():
    # w = softmax(w − 1.9 (∇ + .9 w)), here ∇ = (w / 2, 0) for the share w of the first:
    # w = 1 / (1 + exp(2.37 w − .71)), which .4258 fulfills.
    first, second = released_shares(rows([1.0, 0.0], [0.5, 0.5])).tolist()
    assert first + second == pytest.approx(1)
    assert first == pytest.approx(1 / (1 + math.exp(2.37 * first - 0.71)), abs=1e-9)
    assert first == pytest.approx(0.4258, abs=1e-4)


def test_released_shares_of_ten_clients_are_almost_equal_and_exact_ones_are_not():
    draw = torch.rand(10, 10, generator=torch.Generator().manual_seed(0)) * 6
    prediction = draw.softmax(1).double()
    assert (10 * released_shares(prediction) - 1).abs().max() < 0.023
    exact = exact_shares(prediction)
    assert (10 * exact - 1).abs().max() > 0.5
    gap = [
        (w @ prediction - 0.1).square().sum()
        for w in (exact, torch.full_like(exact, 0.1))
    ]
    assert gap[0] < gap[1]


def test_a_label_is_freed_of_the_clients_prior():
    # .6 / .9 = 2/3 against .4 / .1 = 4: the second class, with 4 / (4 + 2/3) = 6/7.
    found = debiased(torch.tensor([[0.6, 0.4]]), torch.tensor([0.9, 0.1]))
    assert found[0].tolist() == pytest.approx([1 / 7, 6 / 7])
    assert (
        debiased(torch.tensor([[1.0, 0.0]]), torch.tensor([1.0, 0.0])).isfinite().all()
    )


def test_the_mean_prediction_follows_the_student_by_half_a_step(make_bench):
    bench = make_bench(unlabeled=6)
    objective = DebiasedPseudoLabel(bench, 0.0, 0.5)
    model = bench.setup.model.build(0)
    objective.start_epoch(model.eval())
    before, labels = (
        objective.mean_probs.clone(),
        objective.labeler.pseudo_label.clone(),
    )
    assert float(before.sum()) == pytest.approx(1) and (labels >= 0).all()
    torch.nn.init.zeros_(model.head.weight)
    torch.nn.init.zeros_(model.head.bias)
    objective(model, Batch(torch.empty(0, dtype=torch.long), torch.arange(6)))
    # A head of zeros says ¼ of each of the four classes.
    assert torch.allclose(objective.mean_probs, 0.5 * before + 0.5 * 0.25)
    objective.start_epoch(model.eval())
    assert torch.equal(objective.labeler.pseudo_label, labels)  # once a round


def test_one_without_unlabeled_images_counts_as_one_of_all(tiny_setup, make_update):
    sure = {MEAN_PREDICTION: torch.tensor([0.8, 0.2])}
    other = {MEAN_PREDICTION: torch.tensor([0.4, 0.6])}
    updates = [
        make_update(0, num_labeled=9),
        make_update(1, num_labeled=2, num_unlabeled=4, statistics=sure),
        make_update(2, num_labeled=2, num_unlabeled=4, statistics=other),
        make_update(3),
    ]
    shares = FedDB(tiny_setup, shares="exact").contributions(updates).tolist()
    assert shares == pytest.approx([1 / 3, 2 / 3 * 0.25, 2 / 3 * 0.75, 0], abs=1e-6)


def test_the_server_goes_on_by_half_of_its_last_step():
    one = torch.tensor([1.0])
    state = MomentumState({"x": one, "bn": one}, ())
    new, velocity = stepped(state, {"x": 3 * one, "bn": 5 * one}, frozenset("x"), 0.5)
    assert (new["x"], velocity["x"], new["bn"]) == (3, 2, 5)
    state = replace(state, weights=new, velocity=velocity)
    new, velocity = stepped(state, {"x": 3 * one, "bn": 7 * one}, frozenset("x"), 0.5)
    assert (new["x"], velocity["x"], new["bn"]) == (4, 1, 7)


def test_after_a_round_the_state_has_a_velocity_for_parameters_alone(
    tiny_setup, tiny_clients, play
):
    state, updates, _ = play(FedDB(tiny_setup, cutoff=0.3), tiny_clients)
    assert set(state.velocity) == tiny_setup.parameter_names
    assert {u.client for u in updates if u.statistics} == {1, 2, 3}
