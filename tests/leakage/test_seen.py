"""What the server sees: one answer, bits of it, a sum, with noise."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from fedsemi.leakage.answers import Answers
from fedsemi.leakage.seen import (
    Form,
    clip_of,
    clipped,
    draw_groups,
    forms_of,
    noised,
    seen,
    shares_of,
)
from fedsemi.messages import DIVERSITY, Update
from fedsemi.methods import METHODS
from fedsemi.objectives.workbench import Setup

ROWS = np.array([[1.0, 0.0], [0.0, 2.0], [3.0, 4.0]])


def show(form: Form, groups: list[list[int]], clip: float = 0.0) -> list[list[float]]:
    return seen(ROWS, np.array(groups), form, None, clip, seed=1).tolist()


def test_plain_is_the_answer_itself_and_presence_what_is_not_zero() -> None:
    assert show(Form(), [[0], [2]]) == [[1.0, 0.0], [3.0, 4.0]]
    assert show(Form(bits=True), [[0], [2]]) == [[1.0, 0.0], [1.0, 1.0]]


def test_masked_is_the_sum_of_a_group_and_nothing_else() -> None:
    assert show(Form(2), [[0, 1], [1, 2]]) == [[1.0, 2.0], [3.0, 6.0]]


def test_a_mean_of_shares_weighs_what_is_summed() -> None:
    shares = np.array([[0.25, 0.75]], dtype=np.float32)
    found = seen(ROWS, np.array([[0, 2]]), Form(2), shares, 0.0, seed=1)
    assert found.tolist() == [[0.25 + 0.75 * 3, 0.75 * 4]]


def test_no_site_adds_more_than_the_clip_to_a_noisy_sum() -> None:
    assert np.linalg.norm(clipped(ROWS, 1.0), axis=1).max() == pytest.approx(1)
    assert clipped(ROWS, 10.0).tolist() == ROWS.tolist()


def test_noise_is_as_large_as_its_multiplier_says() -> None:
    rows = np.zeros((400, 50))
    made = noised(rows, clip=2.0, multiplier=1.5, random=np.random.default_rng(1))
    assert made.std() == pytest.approx(3.0, rel=0.02)


def test_the_clip_is_the_median_length_of_what_sites_put_in() -> None:
    assert clip_of(ROWS, np.array([[0], [1], [2]]), None) == 2.0


def test_single_sites_are_each_shown_once_and_sums_are_drawn() -> None:
    assert draw_groups(4, 1, 200, seed=1).tolist() == [[0], [1], [2], [3]]
    drawn = draw_groups(4, 3, 200, seed=1)
    assert drawn.shape == (200, 3) and set(drawn.ravel().tolist()) == {0, 1, 2, 3}


def test_noise_is_tried_on_one_site_and_on_the_middle_sum() -> None:
    names = [form.name for form in forms_of((3, 10, 50), 1.0)]
    sums = ["sum of 3", "sum of 10", "sum of 50"]
    assert names == ["plain", "presence", *sums, "noise", "sum of 10 + noise"]
    assert [form.name for form in forms_of((), 0.0)] == ["plain", "presence"]


def test_only_what_pseudo_labels_make_is_cut_down_to_bits(setup: Setup) -> None:
    method = METHODS["semianagg"](setup)
    assert Form(bits=True).shows(f"statistics.{DIVERSITY}", method)
    assert not Form(bits=True).shows("model", method)
    assert Form().shows("model", method)


def test_sums_are_weighed_as_the_method_weighs_its_mean(setup: Setup) -> None:
    updates = [
        Update(k, 0, {}, 0, 10, num_pseudo, {DIVERSITY: torch.tensor([1.0, 0, 0])})
        for k, num_pseudo in enumerate([1, 3])
    ]
    empty = np.zeros((2, 3))
    answers = Answers([], {}, updates, empty)
    groups = np.array([[0, 1]])

    def shares(name: str) -> list[float] | None:
        found = shares_of(METHODS[name](setup), answers, groups)
        return None if found is None else found[0].tolist()

    assert shares("fedavg-semi") == [0.25, 0.75]
    assert shares("uniform-semi") == shares("semianagg") == [0.5, 0.5]
    assert shares("cbafed") == [0.25, 0.75]
    assert shares("rscfed") is None
