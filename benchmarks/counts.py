"""How exactly a coordinator that crafts plan and model reads a site's class counts.

The bias of the head moves by the learning rate times the share of each class minus what
the model predicts on average. Who makes the prediction known reads the shares.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from benchmarks.common import Section, method_of
from fedsemi.config.blueprint import Blueprint
from fedsemi.config.experiment import make_experiment
from fedsemi.data.augment import Views
from fedsemi.data.client import Client
from fedsemi.data.dataset import ImageSet
from fedsemi.data.datasets import load
from fedsemi.deployment.site.bounds import BOUNDS
from fedsemi.errors import ProtocolError
from fedsemi.messages import Task, Weights
from fedsemi.models import ModelSpec
from fedsemi.objectives.workbench import LocalTraining, Setup
from fedsemi.seeds import seed_of

CLASSES, IMAGES = 10, 128
SEEDS = (1, 2, 3)
ALPHA = 0.3
"""Of the Dirichlet distribution that histograms are drawn from."""
FIRST_SITE = 200
"""Number of the first site, which is part of the seed of its draw."""
SITES = 10
"""Of each seed."""
_FULL = {"batch_size": IMAGES, "momentum": 0.0}
_SLOW = {"batch_size": IMAGES // 4, "momentum": 0.0, "lr_labeled": BOUNDS.lr[0]}
_USUAL = {"batch_size": IMAGES // 4}


def _scaled(share: float) -> Callable[[Weights], Weights]:
    """Make the head so much fainter."""

    def made(weights: Weights) -> Weights:
        return {
            k: v * share if k.startswith("head.") else v for k, v in weights.items()
        }

    return made


CASES: dict[str, tuple[dict[str, Any], Callable[[Weights], Weights]]] = {
    "one full batch, zero head, no momentum": (_FULL, _scaled(0.0)),
    "four batches, zero head, smallest rate, no momentum": (_SLOW, _scaled(0.0)),
    "four batches, faintest head within the bounds, smallest rate, no momentum": (
        _SLOW,
        _scaled(1.1 * BOUNDS.spread),
    ),
    "four batches, fresh head, smallest rate, no momentum": (_SLOW, _scaled(1.0)),
    "usual settings, fresh model": (_USUAL, _scaled(1.0)),
}
"""By name: local training, and what is done to a fresh model."""


@dataclass(frozen=True)
class Bench:
    """Everything that the sites of one seed share."""

    setup: Setup
    mine: ImageSet
    """The coordinator's own images."""
    theirs: ImageSet
    """Images of the sites."""
    fresh: Weights
    seed: int

    def site(self, number: int) -> tuple[Client, npt.NDArray[np.float64]]:
        """Draw a labeled site, and say which share of it each class has."""
        random = np.random.default_rng(seed_of(self.seed, "site", number))
        counts = random.multinomial(IMAGES, random.dirichlet([ALPHA] * CLASSES))
        labels = self.theirs.labels.numpy()
        rows = [
            random.choice(np.flatnonzero(labels == c), count)
            for c, count in enumerate(counts)
        ]
        index = torch.from_numpy(random.permutation(np.concatenate(rows)))
        images = self.theirs.images[index]
        return Client(1, images, self.theirs.labels[index], images[:0]), counts / IMAGES


def make_bench(seed: int) -> Bench:
    """Share the digits among the coordinator and the sites."""
    train = load("digits").train
    order = torch.from_numpy(np.random.default_rng(seed).permutation(len(train)))
    mine, theirs = (
        ImageSet(train.images[half], train.labels[half]) for half in order.chunk(2)
    )
    channels = train.images.shape[1]
    views = Views(8, 10, (0.5,) * channels, (0.25,) * channels, flip=False)
    model = ModelSpec("resnet8", CLASSES, channels, 8, 8)
    setup = Setup(model, views, LocalTraining(batch_size=32))
    return Bench(setup, mine, theirs, dict(model.build(seed).state_dict()), seed)


def inverted(
    bench: Bench, weights: Weights, change: npt.NDArray[np.float64]
) -> npt.NDArray[np.float64]:
    """Read shares off the bias without learning: the gradient is p minus the share.

    What the model predicts on average is taken from the coordinator's own images; the
    steps count as much as momentum lets them.
    """
    local = bench.setup.local
    model = bench.setup.load(weights).train()
    with torch.no_grad():
        logits = model(bench.setup.views.clean(bench.mine.images[:256])).logits
    expected = logits.double().softmax(1).mean(0).numpy()
    steps = range(1, local.epochs * -(-IMAGES // local.batch_size) + 1)
    geometric = [(1 - local.momentum**t) / (1 - local.momentum) for t in steps]
    shares: npt.NDArray[np.float64] = expected + change / (
        local.lr_labeled * sum(geometric)
    )
    return shares


def counts(times: int) -> Section:
    """Read class counts within the bounds of a site, and beyond."""
    benches = [make_bench(seed) for seed in SEEDS[:times]]
    rows = []
    for name, (local, made) in CASES.items():
        missed, said = [], set()
        for bench in benches:
            plan = _plan(bench, local)
            weights = made(bench.fresh)
            said.add(_answer(plan, bench, weights))
            missed += _missed(bench, plan, weights)
        off = np.abs(np.array(missed))
        exact = float((off < 0.5).mean())
        cells = [f"{off.mean():.1g}", f"{off.max():.1g}", f"{exact:.0%}"]
        rows.append([name, ", ".join(sorted(said)), *cells])
    return Section(
        "Class counts from a crafted task",
        f"Labeled sites with {IMAGES} digits, {SITES} of each of {len(benches)} seeds. "
        "Counts are read off the change of the head's bias after one round, with what "
        "the model predicts on the coordinator's own images. Exact: the count of a "
        "class is right after rounding. Sites that have agreed to no plan yet answer "
        "within the default bounds only.",
        ["the coordinator sends", "the site", "mean error", "largest error", "exact"],
        rows,
    )


def _plan(bench: Bench, local: dict[str, Any]) -> Blueprint:
    content = {
        "data": {"name": "digits"},
        "model": {"name": bench.setup.model.name, "width": bench.setup.model.width},
        "local": local,
        "stages": [{"method": "supervised", "rounds": 1}],
    }
    names = tuple(map(str, range(bench.setup.model.num_classes)))
    model, views = bench.setup.model, bench.setup.views
    return Blueprint(make_experiment(content), model, views, names)


def _answer(plan: Blueprint, bench: Bench, weights: Weights) -> str:
    """Say what a real site does."""
    client, _ = bench.site(FIRST_SITE)
    if any(BOUNDS.outside(plan, client)):
        return "refuses (FS2130)"
    task = Task(1, 0, weights)
    method = method_of("supervised", bench.setup)
    try:
        BOUNDS.check_task(plan, task, method)
        BOUNDS.check_spread(plan, task, client)
    except ProtocolError as error:
        return f"refuses ({error.code})"
    return "answers"


def _missed(bench: Bench, plan: Blueprint, weights: Weights) -> list[Any]:
    """Return by how many images the counts of each site and class are wrong."""
    setup = plan.setup(plan.experiment.stages[0])
    bench = replace(bench, setup=setup)
    method, missed = method_of("supervised", setup), []
    for number in range(FIRST_SITE, FIRST_SITE + SITES):
        client, shares = bench.site(number)
        task = Task(1, 0, weights, seed=bench.seed)
        update, _ = method.train(task, client, {})
        change = update.weights["head.bias"] - weights["head.bias"]
        guess = inverted(bench, weights, change.double().numpy())
        missed.append(IMAGES * (guess - shares))
    return missed
