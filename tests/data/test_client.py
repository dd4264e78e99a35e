from __future__ import annotations

import dataclasses
from collections.abc import Callable

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from fedsemi.data.client import Client, batches

Make = Callable[..., Client]


def fake(labeled: int, unlabeled: int) -> Client:
    def images(count: int) -> torch.Tensor:
        return torch.zeros(count, 1, 2, 2, dtype=torch.uint8)

    return Client(0, images(labeled), torch.zeros(labeled).long(), images(unlabeled))


def epoch(labeled: int, unlabeled: int, size: int = 64) -> list[tuple[int, int]]:
    generator = torch.Generator().manual_seed(0)
    return [
        (len(batch.labeled), len(batch.unlabeled))
        for batch in batches(fake(labeled, unlabeled), size, generator)
    ]


def test_the_unlabeled_part_has_no_field_for_labels() -> None:
    names = [field.name for field in dataclasses.fields(Client)]
    assert names == ["id", "labeled_images", "labels", "unlabeled_images"]


@pytest.mark.parametrize(
    ("count", "sizes"),
    [
        (0, []),
        (1, []),
        (2, [2]),
        (63, [63]),
        (64, [64]),
        (65, [64]),
        (128, [64, 64]),
        (129, [64, 64]),
        (130, [64, 64, 2]),
    ],
)
def test_a_lone_last_sample_is_left_out(count: int, sizes: list[int]) -> None:
    assert epoch(0, count) == [(0, size) for size in sizes]
    assert epoch(count, 0) == [(size, 0) for size in sizes]


def test_the_shorter_part_starts_anew_when_it_runs_out() -> None:
    assert epoch(10, 90, size=32) == [(10, 32), (10, 32), (10, 26)]
    assert epoch(90, 10, size=32) == [(32, 10), (32, 10), (26, 10)]


def test_a_part_of_one_sample_counts_as_empty() -> None:
    assert epoch(1, 90, size=64) == [(0, 64), (0, 26)]


@settings(max_examples=30)
@given(st.integers(0, 70), st.integers(0, 70), st.integers(2, 20))
def test_an_epoch_shows_each_sample_of_the_longer_part_at_most_once(
    labeled: int, unlabeled: int, size: int
) -> None:
    generator = torch.Generator().manual_seed(0)
    seen = list(batches(fake(labeled, unlabeled), size, generator))
    longer = "labeled" if labeled >= unlabeled else "unlabeled"
    index = [i for batch in seen for i in getattr(batch, longer).tolist()]
    assert len(index) == len(set(index))
    assert max(labeled, unlabeled) - len(index) in (0, 1)


def test_only_labeled_drops_the_unlabeled_images(make_client: Make) -> None:
    client = make_client(0, labeled=3, unlabeled=5).only_labeled()
    assert (client.num_labeled, client.num_unlabeled) == (3, 0)
