"""Weights in two parts: they add up, and one of them can be exchanged."""

from __future__ import annotations

import torch

from fedsemi.objectives.two_parts import (
    apart,
    flat_psi,
    joined,
    pairs_of,
    psi_of,
    with_psi,
)


def both_parts(setup, part=0.25):
    model = setup.model.build(0)
    weights = model.state_dict()
    made = psi_of(part, model)["psi"].state_dict()
    return {**weights, **{f"psi.{name}": value for name, value in made.items()}}


def test_psi_has_every_parameter_and_no_statistics(tiny_setup):
    told = both_parts(tiny_setup)
    psi = {name.removeprefix("psi.") for name in told if name.startswith("psi.")}
    assert psi == tiny_setup.parameter_names
    for name in psi:
        torch.testing.assert_close(told[f"psi.{name}"], 0.25 * told[name])


def test_sigma_is_what_is_left_and_both_add_up_again(tiny_setup):
    told = both_parts(tiny_setup)
    sigma = apart(told)
    torch.testing.assert_close(sigma["head.weight"], 0.75 * told["head.weight"])
    again = joined(sigma)
    assert again.keys() == told.keys()
    for name, value in told.items():
        torch.testing.assert_close(again[name], value)


def test_another_psi_makes_another_model_of_the_same_sigma(tiny_setup):
    told = both_parts(tiny_setup)
    sigma, flat = apart(told), flat_psi(told)
    own = with_psi(sigma, flat)
    assert own.keys() == tiny_setup.model.build(0).state_dict().keys()
    torch.testing.assert_close(own["head.weight"], told["head.weight"])
    other = with_psi(sigma, 2 * flat)
    # ¾ θ + 2 · ¼ θ.
    torch.testing.assert_close(other["head.weight"], 1.25 * told["head.weight"])


def test_pairs_name_each_weight_once(tiny_setup):
    parts = lambda model: psi_of(0.25, model)  # noqa: E731
    student = tiny_setup.load(both_parts(tiny_setup), parts)
    pairs = pairs_of(student)
    assert pairs.keys() == tiny_setup.parameter_names
    sigma, psi = pairs["head.bias"]
    assert sigma is student.head.bias and psi is not sigma
