"""Which images a model errs on or doubts."""

from __future__ import annotations

import json

import torch
from torch import Tensor

from fedsemi.report.doubts import NUM_MISTAKES, least_sure, mistakes


def test_the_surest_mistake_comes_first_and_no_hit_is_among_them() -> None:
    probs = torch.tensor([[0.9, 0.1], [0.6, 0.4], [0.2, 0.8], [0.7, 0.3]])
    labels = torch.tensor([0, 1, 0, 1])  # a hit, then mistakes at .6, .8 and .7
    found = mistakes(probs, labels)
    assert [each["row"] for each in found] == [2, 3, 1]
    assert (found[0]["true"], found[0]["label"]) == (0, 1)
    assert round(found[0]["confidence"], 3) == 0.8


def test_a_bad_model_gives_no_more_than_a_screen_of_mistakes() -> None:
    probs = torch.eye(2)[[0] * 100]
    assert len(mistakes(probs, torch.ones(100, dtype=torch.long))) == NUM_MISTAKES


def brightness(images: Tensor) -> Tensor:
    """The brighter an image, the surer that it is of class 1; dark is a toss-up."""
    sure = 0.5 + images.float().mean((1, 2, 3)) / 510
    return torch.stack([1 - sure, sure], 1)


def test_each_client_is_asked_about_its_own_unlabeled_images(make_client) -> None:
    client = make_client(3, labeled=2, unlabeled=4)
    for row, light in enumerate((200, 0, 100, 50)):
        client.unlabeled_images[row] = light
    found = least_sure([make_client(0, labeled=5), client], brightness)
    assert list(found) == ["3"]  # who has labels only has nothing to doubt
    assert [each["row"] for each in found["3"]] == [1, 3, 2, 0]
    assert found["3"][0]["confidence"] == 0.5


def test_many_clients_show_fewer_images_each(make_client) -> None:
    clients = [make_client(k, unlabeled=8) for k in range(100)]
    found = least_sure(clients, brightness)
    assert {len(rows) for rows in found.values()} == {2}  # 240 // 100
    json.dumps(found)
