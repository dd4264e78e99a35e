"""Tensors in one block: the same numbers, seen one by one or as vectors."""

from __future__ import annotations

import pytest
import torch
from safetensors.torch import load
from torch import Tensor

from fedsemi.flat import Flat

MIXED = {
    "encoder.weight": torch.arange(6.0).view(2, 3),
    "counter": torch.tensor(7),
    "encoder.bias": torch.tensor([8.0, 9.0]),
    "labels": torch.tensor([-1, 3, 2], dtype=torch.int16),
    "known": torch.tensor([True, False, True]),
    "nothing": torch.empty(0, 5),
}


def equal(found: object, expected: dict[str, Tensor]) -> bool:
    same = dict(found).items()  # type: ignore[call-overload]
    return list(dict(same)) == list(expected) and all(
        torch.equal(value, expected[name]) and value.dtype == expected[name].dtype
        for name, value in same
    )


def test_every_tensor_comes_back_in_its_type_shape_and_order() -> None:
    assert equal(Flat.of(MIXED), MIXED)


def test_all_floats_are_one_vector_in_the_order_of_their_names() -> None:
    assert Flat.of(MIXED).floats().tolist() == [0, 1, 2, 3, 4, 5, 8, 9]


def test_floats_of_two_types_are_joined() -> None:
    both = {"a": torch.tensor([1.0]), "b": torch.tensor([2.0], dtype=torch.double)}
    assert sorted(Flat.of(both).floats().tolist()) == [1, 2]


def test_a_view_and_its_vector_are_the_same_memory() -> None:
    flat = Flat.of(MIXED)
    flat["encoder.bias"].fill_(5)
    assert flat.floats().tolist()[-2:] == [5, 5]
    assert MIXED["encoder.bias"].tolist() == [8, 9]


def test_header_and_block_are_a_safetensors_file() -> None:
    flat = Flat.of(MIXED)
    read = load(flat.layout.header + flat.block.numpy().tobytes())
    assert equal({name: read[name] for name in MIXED}, MIXED)


def test_tensors_that_share_memory_are_stored_apart() -> None:
    base = torch.arange(4)
    flat = Flat.of({"a": base, "b": base[:2]})
    flat["a"].zero_()
    assert flat["b"].tolist() == [0, 1]


def test_weights_with_channels_last_are_laid_out_in_the_usual_order() -> None:
    image = torch.arange(16.0).view(1, 4, 2, 2)
    last = image.contiguous(memory_format=torch.channels_last)
    assert Flat.of({"w": last}).floats().tolist() == list(range(16))


def test_another_order_of_names_is_put_right() -> None:
    flat = Flat.of(MIXED)
    turned = Flat.of(dict(reversed(MIXED.items())))
    assert turned.layout != flat.layout
    assert torch.equal(flat.like(turned).block, flat.block)
    assert flat.like(flat) is flat


def test_a_name_that_is_missing_is_told() -> None:
    with pytest.raises(KeyError, match="counter"):
        Flat.of(MIXED).like({"encoder.weight": torch.zeros(2, 3)})
