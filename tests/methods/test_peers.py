"""Peers: who says the same of a picture of noise."""

from __future__ import annotations

import pytest
import torch

from fedsemi.methods.peers import nearest, noise_picture, said_of


def test_the_picture_is_the_seeds_and_has_gray_levels(tiny_setup):
    picture = noise_picture(tiny_setup, 3)
    assert picture.shape == (1, 3, 8, 8) and picture.dtype == torch.uint8
    assert torch.equal(picture, noise_picture(tiny_setup, 3))
    assert not torch.equal(picture, noise_picture(tiny_setup, 4))
    assert 80 < picture.float().mean() < 170 and picture.float().std() > 40


def test_a_model_says_probabilities_and_another_says_others(tiny_setup):
    picture = noise_picture(tiny_setup, 3)
    said = [
        said_of(tiny_setup, tiny_setup.model.build(seed).state_dict(), picture)
        for seed in (0, 1)
    ]
    for each in said:
        assert each.shape == (3,) and (each > 0).all()
        assert float(each.sum()) == pytest.approx(1, abs=1e-6)
    assert not torch.equal(*said)


def test_who_left_is_nobodys_peer_and_a_newcomer_has_none():
    said = {id: torch.tensor([id / 10, 1 - id / 10]) for id in (1, 2, 4, 9)}
    assert nearest(said, 1, (1, 2, 4, 9), most=2) == [2, 4]
    assert nearest(said, 1, (1, 4, 9), most=2) == [4, 9]
    assert nearest(said, 7, (1, 2, 7), most=2) == []
    assert nearest(said, 1, (1,), most=2) == []
