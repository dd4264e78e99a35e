"""One teacher for all clients that are sent the same model, students of their own."""

from __future__ import annotations

from dataclasses import replace

import torch

from fedsemi.client.networks import networks, teacher_of
from fedsemi.objectives.workbench import Setup
from fedsemi.weights import digest, weights_of


def test_clients_with_the_same_model_share_the_teacher_and_no_student(
    tiny_setup: Setup,
) -> None:
    weights = weights_of(tiny_setup.model.build(0))
    one, teacher = networks(tiny_setup, weights)
    with torch.no_grad():
        one.head.bias.fill_(7)
    other, same = networks(tiny_setup, weights)
    assert same is teacher is teacher_of(tiny_setup, weights)
    assert digest(weights_of(other)) == digest(weights_of(teacher)) == digest(weights)


def test_a_student_is_what_loading_the_weights_gives(tiny_setup: Setup) -> None:
    weights = weights_of(tiny_setup.model.build(0))
    student, teacher = networks(tiny_setup, weights)
    loaded = tiny_setup.load(weights)
    pairs = zip(student.parameters(), loaded.parameters(), strict=True)
    assert all(
        torch.equal(a, b) and a.stride() == b.stride() and a.requires_grad
        for a, b in pairs
    )
    assert all(module.training for module in student.modules())
    assert not any(module.training for module in teacher.modules())
    assert not any(each.requires_grad for each in teacher.parameters())


def test_what_a_client_freezes_is_not_frozen_for_the_next(tiny_setup: Setup) -> None:
    weights = weights_of(tiny_setup.model.build(0))
    student, _ = networks(tiny_setup, weights)
    student.encoder.eval().requires_grad_(False)
    after, _ = networks(tiny_setup, weights)
    assert all(each.requires_grad for each in after.parameters())
    assert after.encoder.training


def test_another_model_or_precision_has_a_teacher_of_its_own(tiny_setup: Setup) -> None:
    weights = weights_of(tiny_setup.model.build(0))
    first = teacher_of(tiny_setup, weights)
    again = weights_of(tiny_setup.model.build(1))
    assert digest(weights_of(teacher_of(tiny_setup, again))) == digest(again)
    rough = teacher_of(replace(tiny_setup, precision="bf16"), weights)
    assert rough is not first
    assert rough.precision == "bf16"
