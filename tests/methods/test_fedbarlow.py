import pytest
import torch

from fedsemi.methods.fedbarlow import FedBarlow
from fedsemi.methods.head_only import HeadOnlyFedAvg
from fedsemi.weights import digest


def test_the_projector_is_averaged_but_not_handed_on(tiny_setup, tiny_clients, play):
    method = FedBarlow(tiny_setup, projector_width=6)
    state, updates, _ = play(method, tiny_clients)
    assert any(key.startswith("projector.") for key in updates[0].weights)
    assert any(key.startswith("projector.") for key in state.parts)
    tiny_setup.load(state.weights)  # a plain classifier


def test_everybody_counts_by_images(tiny_setup, tiny_clients, play):
    state, _, _ = play(FedBarlow(tiny_setup, projector_width=6), tiny_clients, 1)
    total = 20 + 18 + 21 + 1
    expected = {0: 20 / total, 1: 18 / total, 2: 21 / total, 3: 1 / total, 4: 0}
    assert state.contributions == pytest.approx(expected)


def test_labels_teach_the_head_and_never_the_encoder(tiny_setup, tiny_clients, play):
    with_labels = play(FedBarlow(tiny_setup, projector_width=6), tiny_clients)[0]
    without = FedBarlow(tiny_setup, projector_width=6, monitor_labels="none")
    without = play(without, tiny_clients)[0]
    start = tiny_setup.model.build(0).state_dict()
    for key, value in with_labels.weights.items():
        if key.startswith("encoder."):
            assert torch.equal(value, without.weights[key])
    assert torch.equal(without.weights["head.weight"], start["head.weight"])
    assert not torch.equal(with_labels.weights["head.weight"], start["head.weight"])


def test_the_head_is_averaged_over_labeled_clients_alone(
    tiny_setup, tiny_clients, play
):
    state, updates, _ = play(
        FedBarlow(tiny_setup, projector_width=6), tiny_clients[:2], 1
    )
    assert torch.equal(state.weights["head.weight"], updates[0].weights["head.weight"])


def test_learning_rate_ramps_up_and_falls(tiny_setup):
    method = FedBarlow(tiny_setup, cosine_rounds=100)
    assert method.rate(0.1, 0) == pytest.approx(1e-6)
    assert method.rate(0.1, 5) == pytest.approx(0.05, rel=1e-3)
    assert method.rate(0.1, 50) == pytest.approx((0.1 + 1e-5) / 2)
    assert method.rate(0.1, 100) == pytest.approx(1e-5)
    assert FedBarlow(tiny_setup).rate(0.1, 0) == 0.1


def test_workers_change_no_bit(tiny_setup, tiny_clients, play):
    method = FedBarlow(tiny_setup, projector_width=6)
    alone, together = (play(method, tiny_clients, 2, workers)[0] for workers in (1, 2))
    assert digest(alone.whole) == digest(together.whole)


def test_head_only_leaves_every_bit_of_the_encoder(tiny_setup, tiny_clients, play):
    start = tiny_setup.model.build(0).state_dict()
    state, _, _ = play(HeadOnlyFedAvg(tiny_setup), tiny_clients)
    for key, value in state.weights.items():
        assert torch.equal(value, start[key]) == key.startswith("encoder.")
