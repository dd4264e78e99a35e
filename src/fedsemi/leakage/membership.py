"""Was this image learned from? Losses, alignment, and what shadow models say of it.

The server has an image and asks whether it was among those that the seen step was
learned from. It knows the model before the step, so that it can see how much the loss
of the image fell (loss threshold) and how far the step goes against the image's own
gradient (alignment). A shadow attack compares both with the steps of simulated sites,
none of which has the image: an image that is easy for everybody proves nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor
from torch.func import functional_call, grad, vmap
from torch.nn import functional as F

from fedsemi.data.dataset import ImageSet
from fedsemi.leakage.answers import Layout, Single
from fedsemi.leakage.scene import Site
from fedsemi.leakage.scores import Table, auc, caught
from fedsemi.leakage.seen import Groups
from fedsemi.messages import Weights
from fedsemi.objectives.workbench import Setup

_CHUNK = 64
_FEWEST = 50
"""Images from inside below which nothing is said, and as many from outside."""
_SHADOWS = 16
"""Models whose losses are compared; alignment is compared with all."""


@dataclass(frozen=True, eq=False)
class Candidates:
    """Images in question: for each group of sites some of its own, and some others."""

    rows: npt.NDArray[np.int64]
    """Distinct images, as rows of their part."""
    group: npt.NDArray[np.int64]
    image: npt.NDArray[np.int64]
    """Question i: was `rows[image[i]]` learned from in group `group[i]`?"""
    inside: npt.NDArray[np.bool_]
    """The oracle's answer."""

    @property
    def suffice(self) -> bool:
        """Whether there are enough: sums over most sites leave nobody outside."""
        return len(self.group) >= 2 * _FEWEST


def draw_candidates(
    sites: Sequence[Site], groups: Groups, labels: Tensor, each: int, seed: int
) -> Candidates:
    """Draw images of each group, and for every one another of its class.

    Classes are matched, or a guesser who knows the classes of a site would be taken for
    one who knows its images.
    """
    random = np.random.default_rng(seed)
    truth = labels.numpy()
    asked: list[tuple[int, int, bool]] = []
    for number, group in enumerate(groups):
        own = np.unique(np.concatenate([sites[i].rows for i in group]))
        others = np.setdiff1d(np.arange(len(truth)), own)
        for row in random.choice(own, min(each, len(own)), replace=False):
            alike = others[truth[others] == truth[row]]
            if len(alike):
                asked.append((number, int(row), True))
                asked.append((number, int(random.choice(alike)), False))
    group, row, inside = np.array(asked, dtype=np.int64).reshape(-1, 3).T
    rows, image = np.unique(row, return_inverse=True)
    return Candidates(rows, group, image, inside.astype(np.bool_))


@dataclass(frozen=True, eq=False)
class Bench:
    """The model before the step, with what the server can compute of an image."""

    setup: Setup
    before: Weights
    layout: Layout
    pseudo: bool
    """Whether sites learn pseudo-labels, so that these count, not the true ones."""

    def view(self, part: ImageSet, candidates: Candidates) -> tuple[Tensor, Tensor]:
        """Return images as the network takes them, and the labels that they have."""
        some = part.take(candidates.rows)
        images = self.setup.views.clean(some.images)
        if not self.pseudo:
            return images, some.labels
        with torch.inference_mode():
            return images, self._logits(self.before, images).argmax(1)

    def _logits(self, weights: Weights, images: Tensor) -> Tensor:
        model = self.setup.load(self._classifier(weights)).eval()
        return torch.cat(
            [model(part).logits for part in torch.split(images, _CHUNK * 8)]
        )

    def _classifier(self, weights: Weights) -> Weights:
        return {k: weights[k] for k in self.setup.model.empty().state_dict()}

    @torch.inference_mode()
    def losses(self, step: Single, images: Tensor, labels: Tensor) -> Table:
        """Return the loss of each image after a step."""
        moved = self.layout.moved(self.before, step)
        logits = self._logits(moved, images).double()
        loss: Table = F.cross_entropy(logits, labels, reduction="none").numpy()
        return np.nan_to_num(loss, nan=1e6, posinf=1e6)

    def directions(self, images: Tensor, labels: Tensor) -> Single:
        """Return the gradient of each image at the model before, of length one."""
        model = self.setup.load(self._classifier(self.before)).eval()
        fixed = {k: v.detach() for k, v in model.named_buffers()}
        learned = {k: v.detach() for k, v in model.named_parameters()}

        def loss(weights: Mapping[str, Tensor], image: Tensor, label: Tensor) -> Tensor:
            logits = functional_call(
                model, ({**weights, **fixed}), (image[None],)
            ).logits
            return F.cross_entropy(logits, label[None])

        each = vmap(grad(loss), in_dims=(None, 0, 0))
        found = np.zeros((len(images), sum(self.layout.sizes)), dtype=np.float32)
        for start in range(0, len(images), _CHUNK):
            stop = start + _CHUNK
            made = each(learned, images[start:stop], labels[start:stop])
            for name, value in made.items():
                rows = value.flatten(1).numpy()
                found[start:stop, self.layout.places(name)[: rows.shape[1]]] = rows
        return _unit(found)


def signals(
    bench: Bench,
    part: ImageSet,
    candidates: Candidates,
    steps: Single,
    shadows: Single,
) -> dict[str, Table]:
    """Score every question by each attack; a higher score says inside.

    Args:
        bench: The model before.
        part: Where the candidates are.
        candidates: The questions.
        steps: What is seen of each group, [groups, P].
        shadows: What is seen of simulated groups without the candidates.
    """
    images, labels = bench.view(part, candidates)
    still = np.zeros(steps.shape[1], dtype=np.float32)
    start = bench.losses(still, images, labels)
    image, group = candidates.image, candidates.group
    after = np.empty(len(image))
    for number in np.unique(group):
        mine = group == number
        some = torch.from_numpy(image[mine])
        after[mine] = bench.losses(steps[number], images[some], labels[some])
    usual = np.array([bench.losses(s, images, labels) for s in shadows[:_SHADOWS]])
    direction = bench.directions(images, labels)
    against = -(direction @ _unit(steps).T)[image, group].astype(np.float64)
    usually = -(direction @ _unit(shadows).T).astype(np.float64)
    return {
        "loss threshold": -after,
        "loss threshold, fall": start[image] - after,
        "shadow models, fall": _unusual(
            start[image] - after, (start[:, None] - usual.T)[image]
        ),
        "alignment": against,
        "shadow models, alignment": _unusual(against, usually[image]),
    }


def _unit(rows: Single) -> Single:
    """Give rows the length one, so that sites with more steps do not stand out."""
    length = np.linalg.norm(rows, axis=1, keepdims=True)
    unit: Single = rows / np.maximum(length, 1e-12)
    return unit


def _unusual(value: Table, usual: Table) -> Table:
    """Measure how far a value lies above what models without the image show."""
    spread = usual.std(1, ddof=1)
    # A spread of nearly nothing would make giants of rounding errors.
    floor = max(float(np.median(spread)) * 0.1, 1e-9)
    result: Table = (value - usual.mean(1)) / np.maximum(spread, floor)
    return result


def distance_signals(
    own: Table, pseudo: npt.NDArray[np.int64], candidates: Candidates, seen: Table
) -> dict[str, Table]:
    """Score by how near the diversity of a class is to that of the image alone.

    The server has anchor and model, so that it can compute the number of any image; of
    a class with a single image, that number is what the site sends.
    """
    sent = seen[candidates.group, pseudo[candidates.image]]
    return {"own diversity": -np.abs(sent - own[candidates.image])}


@dataclass(frozen=True)
class Membership:
    """What the strongest attack reaches."""

    auc: float
    caught: float | None
    """At 1 % false alarms; None with too few images from outside."""
    questions: int
    attack: str


def strongest(tried: Mapping[str, Table], questions: Candidates) -> str:
    """Choose the attack that is best at simulated sites."""
    return max(tried, key=lambda name: _auc(tried[name], questions))


def judge(name: str, score: Table, questions: Candidates) -> Membership:
    """Judge one attack."""
    inside = questions.inside
    return Membership(
        _auc(score, questions),
        caught(score[inside], score[~inside]),
        int((~inside).sum()),
        name,
    )


def _auc(score: Table, questions: Candidates) -> float:
    return auc(score[questions.inside], score[~questions.inside])
