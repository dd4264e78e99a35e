from dataclasses import replace

import pytest
import torch

from fedsemi.client.learners import AdaptiveAdjustment
from fedsemi.messages import CLASS_COUNT
from fedsemi.methods.semianagg import SemiAnAgg
from fedsemi.methods.ssil_cdm import SsilCdm
from fedsemi.weights import digest

EAGER = AdaptiveAdjustment(cutoff=0.0, adapt_after=0)


def test_both_heads_start_as_the_warm_up_head(tiny_setup, tiny_clients):
    weights = tiny_setup.model.build(0).state_dict()
    state = SsilCdm(tiny_setup).init(weights, [c.info for c in tiny_clients])
    assert state.parts.keys() == {"standard.weight", "standard.bias"}
    assert torch.equal(state.parts["standard.weight"], weights["head.weight"])


def test_two_heads_travel_but_the_model_that_is_tested_has_one(
    tiny_setup, tiny_clients, play
):
    state, updates, _ = play(SsilCdm(tiny_setup, learner=EAGER), tiny_clients)
    assert "standard.weight" in updates[0].weights
    assert "standard.weight" not in state.weights
    assert not torch.equal(state.parts["standard.weight"], state.weights["head.weight"])
    tiny_setup.load(state.weights)  # fits the plain classifier


def test_only_labeled_clients_tell_their_class_counts_and_only_if_asked(
    tiny_setup, tiny_clients, play
):
    state, updates, _ = play(SsilCdm(tiny_setup, prior="labeled"), tiny_clients)
    assert [CLASS_COUNT in u.statistics for u in updates] == [
        u.num_labeled > 0 for u in updates
    ]
    assert state.class_count.sum() == 29  # 20 + 9 labels
    _, updates, _ = play(SsilCdm(tiny_setup, prior="local-ema"), tiny_clients)
    assert not any(u.statistics for u in updates)


def test_the_class_prior_stays_in_the_clients_memory(tiny_setup, tiny_clients, play):
    method = SsilCdm(tiny_setup, learner=EAGER)
    _, updates, memories = play(method, tiny_clients)
    kept = [name for name in memories[1] if name.endswith("frequency")]
    assert len(kept) == 1
    assert memories[1][kept[0]].sum() == pytest.approx(1)
    assert not any("frequency" in name for name in updates[1].weights)


def test_tau_is_two_at_first_and_adapts_later(tiny_setup, tiny_clients, play):
    method = SsilCdm(tiny_setup, learner=EAGER)
    tau = [play(method, tiny_clients, n)[1][1].metrics["tau"] for n in (1, 2, 3)]
    # After the fixed epoch, one in which no distance was collected yet.
    assert tau[:2] == pytest.approx([2, 2 / 3])
    assert 0 < tau[2] < 2 and tau[2] != pytest.approx(2 / 3)


def test_fedavg_counts_samples_and_fedavg_semi_halves(tiny_setup, tiny_clients, play):
    clients = tiny_clients[:2]
    semi = play(SsilCdm(tiny_setup, learner=EAGER), clients, 1)[0]
    plain = play(SsilCdm(tiny_setup, learner=EAGER, aggregation="fedavg"), clients, 1)[
        0
    ]
    assert semi.contributions == pytest.approx({0: 0.5, 1: 0.5})
    assert plain.contributions == pytest.approx({0: 20 / 38, 1: 18 / 38})


def test_nothing_selected_leaves_the_mean_to_labeled_clients(
    tiny_setup, tiny_clients, play
):
    shy = AdaptiveAdjustment(cutoff=1.0)
    state, updates, _ = play(SsilCdm(tiny_setup, learner=shy), tiny_clients, 1)
    assert updates[1].num_pseudo == 0
    assert state.contributions[1] == 0


def test_acr_goes_with_the_aggregation_of_semianagg(tiny_setup, tiny_clients, play):
    state, updates, _ = play(SemiAnAgg(tiny_setup, learner=EAGER), tiny_clients, 2)
    assert updates[1].statistics["diversity"].any()
    assert state.contributions[1] > 0


@pytest.mark.parametrize("prior", ["labeled", "local-ema"])
def test_workers_change_no_bit(tiny_setup, tiny_clients, play, prior):
    method = SsilCdm(tiny_setup, learner=EAGER, prior=prior)
    alone, together = (play(method, tiny_clients, 2, workers)[0] for workers in (1, 2))
    assert digest(alone.whole) == digest(together.whole)


def test_without_a_labeled_client_the_prior_stays_even(tiny_setup, tiny_clients, play):
    method = SsilCdm(replace(tiny_setup), learner=EAGER, prior="labeled")
    state, _, _ = play(method, tiny_clients[1:2], 1)
    assert not state.class_count.any()
