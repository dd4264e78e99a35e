from __future__ import annotations

import torch
from hypothesis import given
from hypothesis import strategies as st

from fedsemi.seeds import Streams, seed_of

parts = st.lists(st.integers() | st.text(), max_size=4)


@given(parts, parts)
def test_different_parts_give_different_seeds(a: list[object], b: list[object]) -> None:
    assert (seed_of(*a) == seed_of(*b)) == (a == b)


def test_the_number_one_and_the_word_one_are_different() -> None:
    assert seed_of(1) != seed_of("1")


def test_a_seed_fits_a_torch_generator() -> None:
    torch.Generator().manual_seed(seed_of("anything", 1, 2))


def test_a_stream_does_not_depend_on_what_others_drew() -> None:
    quiet, busy = Streams(5), Streams(5)
    torch.rand(100, generator=busy["weak"])

    a = torch.rand(3, generator=quiet["strong"])
    b = torch.rand(3, generator=busy["strong"])

    assert torch.equal(a, b)


def test_a_stream_goes_on_where_it_stopped() -> None:
    streams = Streams(5)
    first, second = (torch.rand(3, generator=streams["weak"]) for _ in range(2))
    assert not torch.equal(first, second)
