"""A state is written as JSON and tensors, and comes back as it was."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from fedsemi.errors import StorageError
from fedsemi.runs.state_codec import decode, decode_tensors, encode


@dataclass(frozen=True)
class Inner:
    name: str = ""


@dataclass(frozen=True)
class State:
    value: Any = None
    inner: tuple[Inner, ...] = ()
    by_client: dict[int, Inner] = field(default_factory=dict)


@dataclass(frozen=True)
class Stranger:
    command: str = "rm"


def again(state: Any, like: Any) -> Any:
    """Take a state through a file."""
    tensors: dict[str, Tensor] = {}
    text = json.dumps(encode(state, tensors))
    return decode(json.loads(text), tensors, like)


def equal(a: Any, b: Any) -> bool:
    """Compare values that may hold tensors."""
    if isinstance(a, Tensor):
        return isinstance(b, Tensor) and torch.equal(a, b)
    if isinstance(a, dict):
        return list(a) == list(b) and all(equal(a[key], b[key]) for key in a)
    if isinstance(a, list | tuple):
        same = type(a) is type(b) and len(a) == len(b)
        return same and all(equal(x, y) for x, y in zip(a, b, strict=True))
    return type(a) is type(b) and bool(a == b)


KEYS = st.one_of(st.integers(0, 2), st.sampled_from(["0", "1", "a", "a.b", "b"]))
VALUES = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(-5, 5),
        st.floats(allow_nan=False),
        st.text(max_size=3),
        st.integers(0, 99).map(lambda number: torch.tensor([number])),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.lists(inner, max_size=3).map(tuple),
        st.dictionaries(KEYS, inner, max_size=3),
    ),
    max_leaves=8,
)


@given(VALUES)
def test_whatever_a_state_may_hold_comes_back_with_its_kind(value: Any) -> None:
    assert equal(again(State(value), State()).value, value)


def test_two_tensors_whose_places_are_written_alike_are_both_kept() -> None:
    one, two = torch.tensor([1]), torch.tensor([2])
    for value in ({1: one, "1": two}, {"a": {"b": one}, "a.b": two}):
        assert equal(again(State(value), State()).value, value)


def test_dataclasses_inside_are_made_again() -> None:
    state = State(inner=(Inner("a"), Inner("b")), by_client={3: Inner("c")})
    assert again(state, State()) == state


def test_a_file_cannot_choose_what_is_made() -> None:
    with pytest.raises(StorageError, match=r"FS1105 .*Stranger, which this method"):
        again(State(Stranger()), State())


def test_a_state_of_another_method_is_refused() -> None:
    with pytest.raises(StorageError, match=r"FS1105 .*holds a dict, .*keeps a State"):
        again({"value": 1}, State())


def test_a_field_that_is_not_known_any_more_is_told() -> None:
    tree = {"dataclass": "Inner", "fields": {"name": "a", "age": 3}}
    with pytest.raises(StorageError, match=r"FS1105 the Inner .*does not fit .*'age'"):
        decode(tree, {}, Inner())


@pytest.mark.parametrize(
    ("value", "where"),
    [
        ({1, 2}, "'state.value' is a set"),
        ([object()], "'state.value.0' is a object"),
        ({(1, 2): 3}, "'state.value' is a tuple"),
        ({True: 3}, "'state.value' is a bool"),
    ],
)
def test_what_cannot_be_kept_is_named_by_its_place(value: Any, where: str) -> None:
    with pytest.raises(StorageError) as caught:
        encode(State(value), {})
    assert caught.value.code == "FS1107" and where in str(caught.value)


def test_weights_alone_come_back_as_a_mapping() -> None:
    tensors: dict[str, Tensor] = {}
    weights = {"head.weight": torch.eye(2), "head.bias": torch.zeros(2)}
    found = decode_tensors(encode(weights, tensors), tensors)
    assert equal(found, weights)


def test_tensors_are_kept_without_their_gradient() -> None:
    tensors: dict[str, Tensor] = {}
    encode({"w": torch.ones(1, requires_grad=True)}, tensors)
    assert not tensors["state.w"].requires_grad
