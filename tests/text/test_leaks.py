"""Whoever reads what leaves a site is told what each field is known to tell."""

from __future__ import annotations

from dataclasses import fields

import pytest

from fedsemi.client.learners import LEARNERS
from fedsemi.client.wire import USUAL_METRICS
from fedsemi.data.augment import Views
from fedsemi.messages import Findings, Update
from fedsemi.methods import METHODS
from fedsemi.models import ModelSpec
from fedsemi.objectives.workbench import Setup
from fedsemi.text.leaks import LEAKS, UNKNOWN, known_leak


def statistics() -> set[str]:
    setup = Setup(
        ModelSpec("resnet8", 3, 3, 2, 8), Views(8, 10, (0.5,) * 3, (1.0,) * 3)
    )
    return {
        name for method in METHODS.own.values() for name in method(setup).statistics
    }


def sent() -> list[str]:
    talkers = [*METHODS.own.values(), *LEARNERS.own.values()]
    metrics = USUAL_METRICS.union(*(each.own_metrics for each in talkers))
    numbers = [field.name for field in fields(Update) if field.type == "int"]
    return [
        "weights",
        *numbers,
        *(f"statistics.{name}" for name in sorted(statistics())),
        *(f"metrics.{name}" for name in sorted(metrics)),
        *(f"findings.{field.name}" for field in fields(Findings)),
    ]


@pytest.mark.parametrize("field", sent())
def test_every_field_that_a_shipped_method_sends_is_explained(field: str) -> None:
    assert known_leak(field) != UNKNOWN


def test_a_bin_of_confidence_is_explained_by_the_line_of_all_bins() -> None:
    assert "confidence" in known_leak("metrics.confidence_from_0.95")


def test_nothing_is_made_up_about_a_field_from_outside() -> None:
    assert known_leak("statistics.of_my_own") == UNKNOWN


def test_a_line_of_the_table_is_short_enough_for_a_terminal() -> None:
    assert max(map(len, LEAKS.values())) <= 110
