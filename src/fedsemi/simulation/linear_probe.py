"""The linear probe: how much a frozen encoder knows, by a linear layer on its features.

Training features are of the clean view. Which epoch counts is decided on a held-out
part of the training labels, never on the test set.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from fedsemi.client.evaluate import Metrics, metrics
from fedsemi.data.dataset import UNKNOWN, ImageSet
from fedsemi.errors import DataError
from fedsemi.messages import Weights
from fedsemi.models import Classifier
from fedsemi.objectives.workbench import Setup
from fedsemi.seeds import Streams, seed_of
from fedsemi.simulation.build import Simulation

Labels = Literal["all", "labeled"]

EPOCHS = 100
STEPS = (60, 80)
BATCH = 256
LR = 0.1
EVERY = 20
HELD_OUT = 0.1


@dataclass(frozen=True)
class ProbeResult:
    """What the probe found."""

    num_labels: int
    """Labels used, the held-out ones included."""
    epoch: int
    """The epoch chosen on the held-out part."""
    held_out_accuracy: float
    test: Metrics
    """Of the chosen epoch."""


def linear_probe(
    simulation: Simulation, setup: Setup, weights: Weights, labels: Labels
) -> ProbeResult:
    """Train a linear layer on frozen features, with all labels or the clients'."""
    model = setup.load(weights).eval()
    train = _labeled(simulation, labels)
    if len(train.labels) < 2:
        raise DataError("the probe needs at least two labels", code="FS3014")
    streams = Streams(seed_of(simulation.experiment.seed, "probe"))
    order = torch.randperm(len(train.labels), generator=streams["held out"])
    held = max(1, int(HELD_OUT * len(order)))
    feature = features(model, train.images, setup)
    test = features(model, simulation.federation.test.images, setup)
    kept, out = order[held:], order[:held]
    best = (-1.0, 0, torch.empty(0))
    for epoch, head in _epochs(feature[kept], train.labels[kept], setup, streams):
        right = (head(feature[out]).argmax(1) == train.labels[out]).float().mean()
        if float(right) > best[0]:
            best = float(right), epoch, head(test).softmax(1).detach()
    truth, classes = simulation.federation.test.labels, setup.model.num_classes
    found = metrics(best[2], truth, classes)
    return ProbeResult(len(train.labels), best[1], best[0], found)


@torch.no_grad()
def features(model: Classifier, images: Tensor, setup: Setup) -> Tensor:
    """Return the features of the clean view, on the CPU."""
    parts = [
        model.features(setup.seen.clean(part.to(setup.device))).cpu()
        for part in torch.split(setup.shown(images), 500)
    ]
    return torch.cat(parts)


def _labeled(simulation: Simulation, labels: Labels) -> ImageSet:
    if labels == "all":
        train = simulation.dataset.train
        known = train.labels != UNKNOWN  # real sites know few of them
        return ImageSet(train.images[known], train.labels[known])
    clients = [c for c in simulation.federation.clients if c.num_labeled]
    if not clients:
        raise DataError("no client has labels; use --labels all", code="FS3014")
    images = torch.cat([client.labeled_images for client in clients])
    return ImageSet(images, torch.cat([client.labels for client in clients]))


def _epochs(
    feature: Tensor, labels: Tensor, setup: Setup, streams: Streams
) -> list[tuple[int, nn.Linear]]:
    """Train; return the head as it was after every 20th epoch."""
    head = nn.Linear(feature.shape[1], setup.model.num_classes)
    nn.init.zeros_(head.weight)
    nn.init.zeros_(head.bias)
    optimizer = torch.optim.SGD(head.parameters(), lr=LR, momentum=0.9)
    schedule = torch.optim.lr_scheduler.MultiStepLR(optimizer, list(STEPS))
    snapshots = []
    for epoch in range(1, EPOCHS + 1):
        order = torch.randperm(len(feature), generator=streams["shuffle"])
        for index in torch.split(order, BATCH):
            loss = F.cross_entropy(head(feature[index]), labels[index])
            optimizer.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            optimizer.step()
        schedule.step()
        if epoch % EVERY == 0:
            snapshot = nn.Linear(*head.weight.shape[::-1])
            snapshot.load_state_dict(head.state_dict())
            snapshots.append((epoch, snapshot))
    return snapshots
