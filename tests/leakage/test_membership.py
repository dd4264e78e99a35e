"""An image that was learned by heart is found; one that was not is not."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch.nn import functional as F

from fedsemi.data.client import Client
from fedsemi.data.dataset import ImageSet
from fedsemi.leakage.answers import Layout
from fedsemi.leakage.membership import (
    Bench,
    Candidates,
    distance_signals,
    draw_candidates,
    judge,
    signals,
    strongest,
)
from fedsemi.leakage.scene import Site
from fedsemi.leakage.scores import estimate
from fedsemi.objectives.workbench import Setup
from fedsemi.weights import weights_of

IMAGES = 60


def pictures(seed: int) -> ImageSet:
    random = torch.Generator().manual_seed(seed)
    shape = IMAGES, 3, 8, 8
    images = torch.randint(256, shape, dtype=torch.uint8, generator=random)
    return ImageSet(images, torch.arange(IMAGES) % 3)


def site_of(part: ImageSet, rows: list[int]) -> Site:
    index = torch.tensor(rows)
    client = Client(0, part.images[index], part.labels[index], part.images[:0])
    return Site(client, np.array(rows), part.labels[index])


def by_heart(setup: Setup, part: ImageSet, rows: list[int], steps: int) -> np.ndarray:
    """Learn some images, with batch norm at rest, and return the step."""
    model = setup.load(setup.model.build(1).state_dict()).eval()
    layout = Layout.of(setup.model.build(1).state_dict())
    images, labels = setup.views.clean(part.images[rows]), part.labels[rows]
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    for _ in range(steps):
        optimizer.zero_grad()
        F.cross_entropy(model(images).logits, labels).backward()
        optimizer.step()
    return layout.row(weights_of(model)) - layout.row(setup.model.build(1).state_dict())


def bench_of(setup: Setup, pseudo: bool = False) -> Bench:
    before = dict(setup.model.build(1).state_dict())
    return Bench(setup, before, Layout.of(before), pseudo)


def asked_about(part: ImageSet, rows: list[int]) -> Candidates:
    site = site_of(part, rows)
    return draw_candidates([site], np.array([[0]]), part.labels, len(rows), seed=1)


def test_images_learned_by_heart_are_told_from_others(setup: Setup) -> None:
    part, rows = pictures(1), list(range(12))
    asked = asked_about(part, rows)
    step = by_heart(setup, part, rows, 60)[None]
    random = np.random.default_rng(1)
    shadows = 1e-3 * random.normal(size=(6, step.shape[1])).astype(np.float32)
    found = signals(bench_of(setup), part, asked, step, shadows)
    reached = {name: judge(name, score, asked).auc for name, score in found.items()}
    assert reached["loss threshold"] > 0.85
    assert min(reached.values()) > 0.6
    assert reached[strongest(found, asked)] == max(reached.values())


def test_the_one_image_that_a_step_was_made_of_is_always_found(setup: Setup) -> None:
    part, rows = pictures(1), list(range(10))
    sites = [site_of(part, [row]) for row in rows]
    alone = np.arange(10)[:, None]
    asked = draw_candidates(sites, alone, part.labels, 1, seed=1)
    steps = np.stack([by_heart(setup, part, [row], 1) for row in rows])
    found = signals(bench_of(setup), part, asked, steps, steps[:2])
    assert judge("alignment", found["alignment"], asked).auc == 1.0


def test_a_step_that_saw_no_image_finds_none(setup: Setup) -> None:
    reached: dict[str, list[float]] = {}
    for seed in range(1, 7):
        part, random = pictures(seed), np.random.default_rng(seed)
        asked = asked_about(part, list(range(0, IMAGES, 2)))
        size = sum(bench_of(setup).layout.sizes)
        steps = 0.01 * random.normal(size=(9, size)).astype(np.float32)
        found = signals(bench_of(setup), part, asked, steps[:1], steps[1:])
        for name, score in found.items():
            reached.setdefault(name, []).append(judge(name, score, asked).auc)
    for name, values in reached.items():
        interval = estimate(values)
        assert interval.low is not None and interval.high is not None
        assert interval.low <= 0.5 <= interval.high, name


def test_every_image_from_inside_has_one_of_its_class_from_outside() -> None:
    part = pictures(1)
    sites = [site_of(part, list(range(k, IMAGES, 5))) for k in range(5)]
    groups = np.array([[0, 1], [2, 2]])
    asked = draw_candidates(sites, groups, part.labels, 6, seed=1)
    rows, labels = asked.rows[asked.image], part.labels.numpy()
    inside, outside = rows[asked.inside], rows[~asked.inside]
    assert len(inside) == len(outside) == 12
    assert labels[inside].tolist() == labels[outside].tolist()
    for number, group in enumerate(groups):
        own = {row for k in group for row in sites[k].rows.tolist()}
        mine = asked.group == number
        assert set(rows[mine & asked.inside].tolist()) <= own
        assert not set(rows[mine & ~asked.inside].tolist()) & own


def test_nothing_is_asked_where_a_sum_leaves_no_image_outside() -> None:
    part = pictures(1)
    sites = [site_of(part, list(range(k, IMAGES, 2))) for k in range(2)]
    asked = draw_candidates(sites, np.array([[0, 1]] * 9), part.labels, 6, seed=1)
    assert len(asked.rows) == 0 and not asked.suffice
    alone = draw_candidates(sites, np.array([[0]] * 9), part.labels, 6, seed=1)
    assert alone.suffice


def test_unlabeled_sites_are_attacked_by_the_labels_that_they_learn(
    setup: Setup,
) -> None:
    part = pictures(1)
    asked = asked_about(part, list(range(12)))
    _, true = bench_of(setup).view(part, asked)
    _, pseudo = bench_of(setup, pseudo=True).view(part, asked)
    assert torch.equal(true, part.labels[asked.rows])
    assert len(pseudo.unique()) < 3  # a fresh model sees one class or two everywhere


def test_a_class_with_a_single_image_tells_its_own_diversity() -> None:
    rows, group = np.arange(3), np.array([0, 0, 0])
    asked = Candidates(rows, group, rows, np.array([True, False, False]))
    sent = np.array([[0.25, 0.7]])
    own, pseudo = np.array([0.25, 0.5, 0.4]), np.array([0, 0, 1])
    (score,) = distance_signals(own, pseudo, asked, sent).values()
    assert score == pytest.approx([0.0, -0.25, -0.3])
    assert judge("own diversity", score, asked).auc == 1.0
