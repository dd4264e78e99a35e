"""Rounds against the usual way of writing them, and two workers against one.

The usual way follows the description of the released code of SemiAnAgg: Pillow
augments image by image in a DataLoader, the teacher labels batch by batch, the student
sees the weak and the strong view in two passes through a Barlow projector whose loss
counts zero, and state dicts are deep copies, all in one process.
"""

from __future__ import annotations

import copy
import statistics
import time
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from PIL import Image, ImageDraw, ImageEnhance, ImageOps
from torch import Tensor, nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, Dataset

from benchmarks.common import (
    Federation,
    Section,
    against,
    make_clients,
    make_setup,
    medians,
    worked,
)
from fedsemi.data.client import Client
from fedsemi.data.randaugment import CUTOUT_FILL, DRAWS, RANGES
from fedsemi.objectives.workbench import Setup

_ENHANCE = {
    "Brightness": ImageEnhance.Brightness,
    "Color": ImageEnhance.Color,
    "Contrast": ImageEnhance.Contrast,
    "Sharpness": ImageEnhance.Sharpness,
}


def reference(times: int) -> Section:
    """Item 2: a SemiAnAgg round against the usual way."""
    setup, clients = make_setup(), make_clients(4, 320, 0)
    usual = UsualWay(setup, clients)
    ours = Federation("semianagg", setup, clients, 2)
    times = min(times, 3)
    alone: list[float] = []

    def theirs() -> None:
        start = time.process_time()
        usual()
        alone.append(time.process_time() - start)

    with ours.engine:
        before, all_before = _busiest(ours), worked(ours.pids) - time.process_time()
        slow, fast = medians([theirs, ours], times, time.perf_counter)
        busy = (_busiest(ours) - before) / times
        whole = (worked(ours.pids) - time.process_time() - all_before) / times
    return Section(
        "Against the reference way",
        "One round of SemiAnAgg on 4 unlabeled clients of 320 samples, `resnet8` at "
        "32x32. The other side is written like the released code: Pillow per image in "
        "a DataLoader, a teacher pass and two student passes with a Barlow projector, "
        "deep copies, one process. fedsemi has two workers. By the clock this means "
        "something only if both cores are idle otherwise; the second line, processor "
        "seconds of the busiest process, says what idle cores would allow at most; the "
        "third, processor seconds of all workers, leaves out that there are two.",
        ["", "reference way", "fedsemi", "faster by", "aim", ""],
        [
            ["by the clock", *_row(slow, fast, 4.0)],
            [
                "busiest process",
                *_row(statistics.median(alone), busy, 4.0)[:3],
                "–",
                "",
            ],
            ["all workers", *_row(statistics.median(alone), whole, 4.0)[:3], "–", ""],
        ],
    )


def cores(times: int) -> Section:
    """Item 3: two workers against one."""
    setup, clients = make_setup(), make_clients(4, 320, 0)
    one = Federation("semianagg", setup, clients, 1)
    two = Federation("semianagg", setup, clients, 2)
    with one.engine, two.engine:
        before = _busiest(one), _busiest(two)
        single, double = medians([one, two], times, time.perf_counter)
        busy = [
            (_busiest(federation) - start) / times
            for federation, start in zip((one, two), before, strict=True)
        ]
    return Section(
        "Cores",
        "The same round with one worker and with two. By the clock this means "
        "something only if both cores are idle otherwise; the second line, processor "
        "seconds of the busiest worker, says what idle cores would allow at most.",
        ["", "one worker", "two workers", "faster by", "aim", ""],
        [
            ["by the clock", *_row(single, double, 1.8)],
            ["busiest worker", *_row(busy[0], busy[1], 1.8)[:3], "–", ""],
        ],
    )


def _busiest(federation: Federation) -> float:
    """Return the processor seconds of the worker that has worked most."""
    return max(worked([pid]) for pid in federation.pids) - time.process_time()


def _row(slow: float, fast: float, aim: float) -> list[str]:
    ratio = against(slow / fast, aim, "{:.2f}x", at_least=True)
    return [f"{slow:.2f} s", f"{fast:.2f} s", *ratio]


class UsualWay:
    """A call runs one round over all clients."""

    def __init__(self, setup: Setup, clients: Sequence[Client]) -> None:
        self._setup = setup
        self._loaders = [
            DataLoader(_PillowViews(client, setup), batch_size=64, shuffle=True)
            for client in clients
        ]
        model = setup.model.build(0)
        # In proportion to the released one, which makes 2048 of 512 features.
        width = 4 * model.num_features
        layers: list[nn.Module] = []
        for before in (model.num_features, width):
            linear = nn.Linear(before, width, bias=False)
            layers += [linear, nn.BatchNorm1d(width), nn.ReLU(inplace=True)]
        projector = nn.Sequential(*layers, nn.Linear(width, width, bias=False))
        self._global = nn.ModuleList([model, projector])

    def __call__(self) -> None:
        """Run a round."""
        states = []
        for loader in self._loaders:
            student, teacher = copy.deepcopy(self._global), copy.deepcopy(self._global)
            self._learn(student, teacher.eval(), loader)
            states.append(copy.deepcopy(student.state_dict()))
        mean = copy.deepcopy(states[0])
        for key in mean:
            total = sum(state[key] / len(states) for state in states)
            mean[key] = torch.as_tensor(total).to(mean[key].dtype)
        self._global.load_state_dict(mean)

    def _learn(
        self, student: nn.ModuleList, teacher: nn.ModuleList, loader: DataLoader[Any]
    ) -> None:
        model, projector = student
        encoder: Any = model.encoder
        optimizer = torch.optim.SGD(
            student.parameters(), lr=0.02, momentum=0.9, weight_decay=5e-4
        )
        for weak, strong in loader:
            with torch.no_grad():
                confidence, label = teacher[0](weak).logits.softmax(1).max(1)
            one, two = model(weak), model(strong)
            losses = F.cross_entropy(two.logits, label, reduction="none")
            twins = _barlow(projector(one.feature), projector(two.feature))
            loss = ((confidence >= 0) * losses).mean() + 0 * twins
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(encoder.parameters(), 5.0)
            optimizer.step()


def _barlow(one: Tensor, two: Tensor) -> Tensor:
    one, two = ((z - z.mean(0)) / (z.std(0) + 1e-5) for z in (one, two))
    correlation = one.T @ two / len(one)
    wanted = torch.eye(len(correlation))
    return (correlation - wanted).square().sum()


class _PillowViews(Dataset[Any]):
    """The weak and the strong view of each image, by Pillow."""

    def __init__(self, client: Client, setup: Setup) -> None:
        self._images = client.unlabeled_images.permute(0, 2, 3, 1).numpy()
        self._views = setup.views
        self._random = np.random.default_rng(0)

    def __len__(self) -> int:
        return len(self._images)

    def __getitem__(self, index: int) -> tuple[Tensor, Tensor]:
        side = self._views.pre
        image = Image.fromarray(self._images[index])
        image = image.resize((side, side), Image.Resampling.BILINEAR)
        return self._input(image), self._input(self._distorted(image))

    def _distorted(self, image: Image.Image) -> Image.Image:
        for name in self._random.choice(list(RANGES), DRAWS):
            image = _apply(image, name, self._random.uniform(*RANGES[name]))
        side, x, y = self._random.uniform(size=3) * image.width
        box = max(0, x - side / 4), max(0, y - side / 4)
        corner = box[0] + side / 2, box[1] + side / 2
        ImageDraw.Draw(image).rectangle((*box, *corner), CUTOUT_FILL)
        return image

    def _input(self, image: Image.Image) -> Tensor:
        size, room = self._views.size, self._views.pre - self._views.size
        left, top = self._random.integers(room + 1, size=2).tolist()
        image = image.crop((left, top, left + size, top + size))
        if self._random.random() < 0.5:
            image = ImageOps.mirror(image)
        values = torch.from_numpy(np.asarray(image).copy()).permute(2, 0, 1) / 255
        mean, std = torch.tensor(self._views.mean), torch.tensor(self._views.std)
        return (values - mean.view(3, 1, 1)) / std.view(3, 1, 1)


def _apply(image: Image.Image, name: str, value: float) -> Image.Image:
    if name in _ENHANCE:
        return _ENHANCE[name](image).enhance(value)
    if name == "Rotate":
        return image.rotate(value)
    moves = {
        "ShearX": (1, value, 0, 0, 1, 0),
        "ShearY": (1, 0, 0, value, 1, 0),
        "TranslateX": (1, 0, value * image.width, 0, 1, 0),
        "TranslateY": (1, 0, 0, 0, 1, value * image.height),
    }
    if name in moves:
        return image.transform(image.size, Image.Transform.AFFINE, moves[name])
    recolors = {
        "AutoContrast": lambda: ImageOps.autocontrast(image),
        "Equalize": lambda: ImageOps.equalize(image),
        "Posterize": lambda: ImageOps.posterize(image, int(value)),
        "Solarize": lambda: ImageOps.solarize(image, int(value)),
        "Identity": image.copy,
    }
    return recolors[name]()
