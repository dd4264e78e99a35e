from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from fedsemi.weights import (
    blend,
    digest,
    distance,
    framed_digest,
    weighted_mean,
    weights_of,
)

from .look_alikes import look_alikes


def shares(*values: float) -> torch.Tensor:
    return torch.tensor(values, dtype=torch.float64)


def test_floats_are_averaged_with_their_shares() -> None:
    many = [{"w": torch.tensor([1.0, 2.0])}, {"w": torch.tensor([5.0, 6.0])}]
    mean = weighted_mean({"w": torch.zeros(2)}, many, shares(0.75, 0.25))
    assert mean["w"].tolist() == [2.0, 3.0]


def test_what_the_shares_leave_stays_on_the_base() -> None:
    mean = weighted_mean({"w": torch.ones(1)}, [{"w": torch.zeros(1)}], shares(0.25))
    assert mean["w"].item() == 0.75


def test_integer_counters_take_the_largest_and_keep_their_type() -> None:
    base = {"steps": torch.tensor(3)}
    many = [{"steps": torch.tensor(10)}, {"steps": torch.tensor(5)}]
    mean = weighted_mean(base, many, shares(0.5, 0.5))
    assert mean["steps"].item() == 10
    assert mean["steps"].dtype == torch.int64


def test_batch_norm_statistics_are_averaged() -> None:
    layers = [nn.BatchNorm1d(2), nn.BatchNorm1d(2)]
    layers[1].running_mean.fill_(4.0)
    weights = [weights_of(layer) for layer in layers]
    mean = weighted_mean(weights[0], weights, shares(0.5, 0.5))
    assert mean["running_mean"].tolist() == [2.0, 2.0]


def test_the_mean_of_equal_models_is_that_model_to_the_bit() -> None:
    model = {"w": torch.randn(50, generator=torch.Generator().manual_seed(0))}
    mean = weighted_mean(model, [model] * 3, shares(0.2, 0.3, 0.5))
    assert torch.equal(mean["w"], model["w"])


@given(st.floats(0, 1))
def test_a_blend_lies_between_its_parts(keep: float) -> None:
    mixed = blend({"w": torch.zeros(1)}, {"w": torch.ones(1)}, keep)
    assert mixed["w"].item() == pytest.approx(1 - keep, abs=1e-6)


def test_distance_sums_the_norms_of_tensors_and_skips_counters() -> None:
    a = {"x": torch.tensor([3.0, 4.0]), "y": torch.tensor([1.0]), "n": torch.tensor(9)}
    b = {"x": torch.zeros(2), "y": torch.zeros(1), "n": torch.tensor(0)}
    assert distance(a, b) == 5.0 + 1.0


def test_digest_depends_on_values_names_and_shapes() -> None:
    base = {"w": torch.zeros(4)}
    others = [
        {"w": torch.tensor([0.0, 0, 0, 1e-45])},
        {"v": torch.zeros(4)},
        {"w": torch.zeros(2, 2)},
        {"w": torch.zeros(4, dtype=torch.int32)},
    ]
    assert len({digest(weights) for weights in (base, *others)}) == 5


def test_digest_does_not_depend_on_memory_layout() -> None:
    image = torch.randn(2, 3, 4, 4, generator=torch.Generator().manual_seed(0))
    turned = image.to(memory_format=torch.channels_last)
    assert digest({"w": image}) == digest({"w": turned})


def test_mappings_made_to_have_one_digest_have_two_framed_ones() -> None:
    one, other = look_alikes({"a": torch.zeros(2)}, {"a": torch.ones(2)})
    assert digest(one) == digest(other)
    assert framed_digest(one) != framed_digest(other)


def test_a_framed_digest_depends_on_values_names_types_and_shapes() -> None:
    kinds = [
        {},
        {"a": torch.zeros(4)},
        {"b": torch.zeros(4)},
        {"a": torch.zeros(2, 2)},
        {"a": torch.zeros(4, dtype=torch.int32)},
        {"a": torch.ones(4)},
        {"a": torch.zeros(0)},
        {"a": torch.zeros(4), "b": torch.tensor(True)},
    ]
    assert len({framed_digest(each) for each in kinds}) == len(kinds)
    rows = torch.arange(4.0).reshape(2, 2)
    assert framed_digest({"a": rows.T}) == framed_digest({"a": rows.T.contiguous()})
