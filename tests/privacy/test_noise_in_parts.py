"""Under masks sites add the noise in parts: enough of it, whoever is lost."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from fedsemi.config.experiment import make_experiment
from fedsemi.engines import InProcess
from fedsemi.privacy.at_site import Terms
from fedsemi.privacy.masked import Masked
from fedsemi.privacy.rules import Rules
from fedsemi.server.gate import Gate
from fedsemi.server.rounds import run
from fedsemi.simulation.build import build
from fedsemi.simulation.run import run_simulation

from .played import masks_of
from .test_masked import Drift, Losing, _clients

CLIP, NOISE = 2.0, 3.0
RULES = Rules()


def terms(secret: bytes = b"") -> Terms:
    return Terms("a plan", RULES, CLIP, NOISE, secret)


def played(lost, masks=True, secret=b"", num=6):
    """Play one round; return how far the model moved."""
    method, clients = Masked(Drift(), terms(secret)), _clients(num)
    gate = Gate(statistics=method.statistics, sees_models=False)
    with InProcess(method, clients) as inner, masks_of(zero=not masks):
        weights = {"x": torch.zeros(3), "n": torch.tensor(0)}
        state = method.init(weights, [c.info for c in clients], 7)
        (done,) = run(method, Losing(inner, lost), state, 1, gate)
    return done.state.weights["x"]


def test_the_fewest_sites_that_open_a_sum_bring_all_of_the_noise() -> None:
    """Six sites: five must open. Five parts have the deviation noise * clip."""
    needed = RULES.needed(6)
    parts = [terms().part(np.zeros(50_000), 6, seed) for seed in range(needed)]
    assert np.std(sum(parts)) == pytest.approx(NOISE * CLIP, rel=0.02)


def test_no_site_adds_more_than_clip_before_its_noise() -> None:
    far = np.full(100, 1e6)
    quiet = Terms("a plan", RULES, CLIP, noise=1e-9)
    assert np.linalg.norm(quiet.part(far, 6, 1)) == pytest.approx(CLIP)


def test_a_part_follows_from_the_sites_secret() -> None:
    step = np.ones(1000)
    known = terms(secret=b"").part(step, 6, 7) - step
    own = terms(secret=b"a site's own").part(step, 6, 7) - step
    assert abs(np.corrcoef(known, own)[0, 1]) < 0.1
    again = terms(secret=b"a site's own").part(step, 6, 7) - step
    assert (own == again).all()


@pytest.mark.parametrize("lost", [{}, {(0, 2): 3}, {(0, 2): 6}])
def test_noise_leaves_masked_and_unmasked_sums_the_same(lost) -> None:
    assert torch.equal(played(lost, masks=True), played(lost, masks=False))


def test_the_sum_over_those_who_are_left_has_the_noise_that_is_accounted() -> None:
    """One site of six is lost after it was counted on."""
    found = [played({(0, 2): 5}, False, str(k).encode()).numpy() for k in range(80)]
    assert np.std(found, axis=0).mean() > 0.8 * NOISE * CLIP


def test_a_masked_run_with_noise_is_accounted_for_like_a_plain_one() -> None:
    content = {
        "data": {"name": "synthetic", "train_limit": 60, "test_limit": 8},
        "partition": {"num_clients": 4},
        "model": {"name": "resnet8", "width": 2},
        "local": {"batch_size": 8},
        "privacy": {
            "masked": True,
            "noise_multiplier": 2.0,
            "statistics_noise": 4.0,
            "clip": 0.1,
        },
        "stages": [{"method": "semianagg", "rounds": 2}],
    }
    records = [s.record for s in run_simulation(build(make_experiment(content)))]
    assert [record.privacy.cost for record in records] == [0.3125, 0.625]
    assert not any(record.skipped for record in records)
