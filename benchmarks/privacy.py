"""What noise costs: accuracy against ε, for few sites and for more.

The same images, network and rounds; sites differ in number and in how many images each
has. Noise is on the model and, ten times as much, on the statistics.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from benchmarks.common import Section
from fedsemi.accounting import epsilon
from fedsemi.config.experiment import make_experiment
from fedsemi.errors import ProtocolError
from fedsemi.server.budget import Course
from fedsemi.simulation.build import build
from fedsemi.simulation.run import run_simulation

SITES = (10, 50)
NOISE = (0.0, 0.01, 0.1, 1.0)
CLIPS = {10: 0.3, 50: 0.06}
"""So that all sites together may move the model equally far."""
ROUNDS = (6, 2)
"""Of supervised, and of SemiAnAgg after it."""
SEED, DELTA = 1, 1e-5


def privacy(times: int) -> Section:
    """Train on MNIST with more and more noise; one seed, for it takes long."""
    rows = [
        [str(sites), f"{noise:g}", *_trained(sites, noise)]
        for sites in SITES
        for noise in NOISE
    ]
    heads = ("sites", "noise multiplier", "ε at δ = 1e-5", "test accuracy")
    text = (
        "MNIST, 2,000 training and 1,000 test images, half of the sites labeled, "
        f"a small CNN; {ROUNDS[0]} rounds of supervised, then {ROUNDS[1]} of "
        "SemiAnAgg, one seed. A share of a step is shortened to "
        f"{CLIPS[10]:g} at 10 sites and to {CLIPS[50]:g} at 50."
    )
    return Section("Accuracy against ε", text, heads, rows)


def _trained(sites: int, noise: float) -> tuple[str, str]:
    """Return ε and accuracy after the last round."""
    content = config(sites, noise)
    place = os.environ.get("FEDSEMI_DATA")
    simulation = build(make_experiment(content), Path(place) if place else None)
    course = Course.of(simulation)
    spent = sum(n * c for n, c in zip(course.rounds, course.costs, strict=True))
    given = epsilon(spent, DELTA)
    told = (f"{given:,.0f}" if given > 100 else f"{given:.3g}") if noise else "∞"
    try:
        *_, last = run_simulation(simulation)
    except ProtocolError:  # no site's training gives finite numbers any more
        return told, "breaks down"
    assert last.record.test is not None, "the last round is tested"
    return told, f"{last.record.test.accuracy:.1%}"


def config(sites: int, noise: float) -> dict[str, Any]:
    """Lay out the experiment."""
    local = {"batch_size": 16, "epochs": 5, "lr_labeled": 0.05, "lr_unlabeled": 0.03}
    clip = CLIPS[sites] if noise else 100.0
    return {
        "seed": SEED,
        "data": {
            "name": "mnist",
            "train_limit": 2000,
            "test_limit": 1000,
            "flip": False,
        },
        "partition": {"num_clients": sites, "labeled_clients": sites // 2},
        "model": {"name": "simple-cnn"},
        "evaluation": {"every": 100},
        "local": local,
        "privacy": {
            "noise_multiplier": noise,
            "statistics_noise": 10 * noise,
            "clip": clip,
        },
        "stages": [
            {"method": "supervised", "rounds": ROUNDS[0]},
            {"method": "semianagg", "rounds": ROUNDS[1], "local": {"epochs": 1}},
        ],
    }
