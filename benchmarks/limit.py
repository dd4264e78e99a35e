"""How far a round is from the bare loop that does the unavoidable work alone."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import torch
from torch.nn import functional as F

from benchmarks.common import (
    Federation,
    Section,
    against,
    make_clients,
    make_setup,
    medians,
)
from fedsemi.models import Classifier
from fedsemi.models.folding import folded
from fedsemi.objectives.workbench import Setup

BATCH = 64


def limit(times: int) -> Section:
    """Item 1: rounds of `resnet8` at 32x32 against the bare loop."""
    setup, samples = make_setup(), 10 * BATCH
    supervised = Federation("supervised", setup, make_clients(1, samples, 1), 0)
    semianagg = Federation("semianagg", setup, make_clients(1, samples, 0), 0)
    bare_supervised = bare(setup, samples, views=2, teacher=False)
    bare_semi = bare(setup, samples, views=1, teacher=True)
    taken = medians([bare_supervised, supervised, bare_semi, semianagg], times)
    return Section(
        "Distance to the limit",
        "Processor seconds of a federated round, one process, against a bare loop on "
        "ready tensors: forward, backward and step of every view, and for the teacher "
        "one pass with folded batch norm. `resnet8`, 32x32, 640 samples.",
        ["round", "bare loop", "fedsemi", "ratio", "aim", ""],
        [
            _row("supervised", taken[0], taken[1], 1.10),
            _row("SemiAnAgg", taken[2], taken[3], 1.15),
        ],
    )


def augmentation(times: int) -> Section:
    """Item 4: the share of a SemiAnAgg round that goes into views."""
    setup, samples = make_setup(), 10 * BATCH
    client = make_clients(1, samples, 0)[0]
    round_ = Federation("semianagg", setup, [client], 0)
    generator = torch.Generator().manual_seed(0)

    def views() -> None:
        resized = setup.views.resized(client.unlabeled_images)
        for images in resized.split(128):
            setup.views.weak(images, generator)
        for index in torch.randperm(samples).split(BATCH):
            setup.views.strong(resized[index], generator)

    whole, seen = medians([round_, views], times)
    return Section(
        "Augmentation",
        "Share of a SemiAnAgg round spent on making weak and strong views.",
        ["images", "views per second", "share of the round", "aim", ""],
        [
            [
                f"{samples}",
                f"{2 * samples / seen:,.0f}",
                *against(seen / whole, 0.08, "{:.1%}"),
            ]
        ],
    )


def scale(times: int) -> Section:
    """Item 8: the paper's network, a few steps."""
    rows = []
    for model, size, samples in (
        ("resnet18-cifar", 32, BATCH),
        ("resnet18-imagenet", 224, 16),
    ):
        setup = make_setup(model, size=size)
        clients = make_clients(1, samples, 0, size)
        round_ = Federation("semianagg", setup, clients, 0)
        loop = bare(setup, samples, views=1, teacher=True)
        limit_, taken = medians([loop, round_], min(times, 3))
        name = f"{model} {size}x{size}"
        speed = f"{samples / taken:.1f}"
        rows.append([name, f"{samples / limit_:.1f}", speed, f"{taken / limit_:.2f}"])
    return Section(
        "Model scale",
        "SemiAnAgg with the paper's ResNet-18 (11 M parameters), images per processor "
        "second on one core, bare loop against federated round; medians of three. No "
        "aim was set.",
        ["model", "bare loop", "fedsemi", "ratio"],
        rows,
    )


def bare(setup: Setup, samples: int, views: int, teacher: bool) -> Callable[[], None]:
    """Return a loop over ready tensors that learns from `samples` samples."""
    size = setup.views.size
    student = setup.load(setup.model.build(0).state_dict()).train()
    optimizer = torch.optim.SGD(
        student.parameters(), lr=0.02, momentum=0.9, weight_decay=5e-4
    )
    batch = min(BATCH, samples)
    shape = views * batch, 3, size, size
    images = torch.randn(shape).contiguous(memory_format=torch.channels_last)
    labels = torch.randint(10, (len(images),))
    frozen = folded(student)
    steps = samples // batch
    return partial(
        _loop, student, frozen if teacher else None, optimizer, images, labels, steps
    )


def _loop(
    student: Classifier,
    teacher: Classifier | None,
    optimizer: torch.optim.Optimizer,
    images: torch.Tensor,
    labels: torch.Tensor,
    steps: int,
) -> None:
    if teacher is not None:
        with torch.inference_mode():
            for _ in range(steps):
                teacher(images)
    for _ in range(steps):
        loss = F.cross_entropy(student(images).logits, labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def _row(name: str, limit_: float, taken: float, aim: float) -> list[str]:
    ratio = against(taken / limit_, aim, "{:.2f}")
    return [name, f"{limit_:.2f} s", f"{taken:.2f} s", *ratio]
