"""One site more or less moves the sum by no more than `clip`, whatever it sends."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from fedsemi.config.experiment import make_experiment
from fedsemi.config.privacy import PrivacySettings
from fedsemi.engines.in_process import InProcess
from fedsemi.errors import ConfigError
from fedsemi.messages import DIVERSITY, ClientInfo, Update
from fedsemi.server.noised import Noised, contribution, flat, shares_of
from fedsemi.server.stages import Judge, run_stages
from fedsemi.simulation.build import build
from fedsemi.state import ServerState
from fedsemi.weights import digest

CLIP = 0.7
START = {
    "head.weight": torch.tensor([[1.0, -2.0]]),
    "norm.running_mean": torch.zeros(2),
    "norm.running_var": torch.ones(2),
    "norm.num_batches_tracked": torch.tensor(5),
}


def simulation(method="semianagg", **privacy):
    """A federation whose noise is so small that sums can be compared."""
    settings = {"noise_multiplier": 1e-9, "statistics_noise": 1.0, "clip": CLIP}
    return build(
        make_experiment(
            {
                "data": {"name": "synthetic", "train_limit": 60, "test_limit": 8},
                "partition": {"num_clients": 4},
                "model": {"name": "resnet8", "width": 2},
                "privacy": settings | privacy,
                "stages": [{"method": method, "rounds": 1}],
            }
        )
    )


def update(client, labeled, unlabeled, pseudo, factor, diversity=None):
    torch.manual_seed(client)
    weights = {
        key: value + factor * torch.randn(value.shape)
        if value.dtype.is_floating_point
        else value + 7 * client
        for key, value in START.items()
    }
    statistics = {} if diversity is None else {DIVERSITY: torch.tensor(diversity)}
    return Update(client, 0, weights, labeled, unlabeled, pseudo, statistics)


UPDATES = [
    update(0, 20, 0, 0, 0.1),
    update(1, 0, 50, 9, 1e4, [0.5, 0.0, 0.9]),
    update(2, 0, 10, 10, 3.0, [0.1, 0.4, 0.0]),
    update(3, 0, 30, 1, 0.01, [0.2, 0.2, 0.2]),
]
STATE = ServerState(
    START, tuple(ClientInfo(u.client, u.num_labeled, u.num_unlabeled) for u in UPDATES)
)


def noised(method="semianagg", **privacy):
    plan = simulation(method, **privacy)
    stage = plan.experiment.stages[0]
    return Noised(plan.method(stage), plan.experiment.privacy, b"key", 0)


def step(server, updates):
    return flat(server.aggregate(STATE, updates).weights) - flat(START)


@pytest.mark.parametrize(
    "method", ["semianagg", "uniform-semi", "fedavg-semi", "fedavg"]
)
@pytest.mark.parametrize("site", range(4))
def test_zero_in_the_place_of_a_site_moves_the_sum_by_clip_at_most(method, site):
    """The site's step and pseudo-labels are gone; what it released before stays."""
    server = noised(method, statistics_noise=1.0 if method == "semianagg" else 0.0)
    without = list(UPDATES)
    without[site] = replace(without[site], weights=START, num_pseudo=0)
    moved = step(server, UPDATES) - step(server, without)
    assert np.linalg.norm(moved) <= CLIP + 1e-6
    assert np.linalg.norm(moved) > 0


def test_no_other_sites_part_depends_on_the_one_that_is_taken_out():
    """Shares are of public counts and of statistics as they were released."""
    shares = shares_of(noised().method)
    silent = [replace(u, num_pseudo=0) if u.client == 2 else u for u in UPDATES]
    assert torch.equal(shares(UPDATES), shares(silent))


def test_batch_norm_statistics_are_part_of_what_is_bounded():
    far = dict(START) | {"norm.running_mean": torch.full((2,), 1e6)}
    part = contribution(far, flat(START), 0.5, CLIP)
    assert np.linalg.norm(part) == pytest.approx(CLIP)


def test_without_noise_and_clipping_it_is_the_methods_own_mean():
    plan = simulation("uniform-semi", clip=127.0, statistics_noise=0.0)
    method = plan.method(plan.experiment.stages[0])
    mild = [update(k, n, m, m, 0.1) for k, n, m in ((0, 20, 0), (1, 0, 50), (2, 0, 9))]
    own = method.aggregate(STATE, mild)
    ours = Noised(method, plan.experiment.privacy, b"key", 0).aggregate(STATE, mild)
    assert np.allclose(flat(own.weights), flat(ours.weights), atol=1e-5)
    assert own.contributions == ours.contributions


def test_counters_stay_and_variances_are_never_negative():
    server = noised(noise_multiplier=10.0)
    for key in range(20):
        server._key = bytes([key])
        new = server.aggregate(STATE, UPDATES).weights
        assert int(new["norm.num_batches_tracked"]) == 5
        assert (new["norm.running_var"] >= 0).all()


def test_the_noise_is_as_large_as_it_is_accounted_for():
    """Sum of squares over many keys: the deviation is noise_multiplier * clip."""
    server, quiet = noised(noise_multiplier=3.0), step(noised(), UPDATES)
    found = []
    for key in range(400):
        server._key = str(key).encode()
        found.append((step(server, UPDATES) - quiet)[:4])  # but for the variances
    assert np.std(found) == pytest.approx(3.0 * CLIP, rel=0.06)


def test_a_method_with_a_server_step_of_its_own_is_refused():
    plan = simulation("rscfed", noise_multiplier=0.0, statistics_noise=0.0)
    method = plan.method(plan.experiment.stages[0])
    with pytest.raises(ConfigError, match="FS6111 the server step of rscfed"):
        Noised(method, PrivacySettings(noise_multiplier=1.0), b"key", 0)


def test_shares_of_statistics_without_noise_are_refused():
    plan = simulation("semianagg", statistics_noise=0.0)
    with pytest.raises(ConfigError, match="FS6111 semianagg makes shares of diversity"):
        plan.method(plan.experiment.stages[0])


def test_noise_on_statistics_that_it_is_not_made_for_is_refused():
    plan = simulation("cbafed", noise_multiplier=0.0)
    with pytest.raises(ConfigError, match=r"FS6111 .* is for diversity, and cbafed"):
        plan.method(plan.experiment.stages[0])


def test_a_secret_makes_noise_that_the_seed_does_not_tell():
    """As at a deployed coordinator, whose sites all know the seed."""
    plan = simulation(noise_multiplier=1.0)

    def ended(key=None):
        clients = plan.federation.clients
        *_, last = run_stages(
            plan, lambda method, _: InProcess(method, clients), Judge(), noise_key=key
        )
        return digest(last.weights)

    assert ended() == ended() != ended(b"secret")
    assert ended(b"secret") == ended(b"secret") != ended(b"another")
