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
from fedsemi.text.leaks import NOT_MEASURED, known_leak


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
    # Means of features, of predictions and of confidence: nobody has attacked them yet.
    open_ones = ("centroids", "mean_prediction", "confidence")
    unknown = field in {f"statistics.{name}" for name in open_ones}
    assert (known_leak(field) == NOT_MEASURED) == unknown


def test_a_name_with_a_line_of_its_own_is_not_explained_by_that_of_its_kind() -> None:
    assert "exactly" in known_leak("findings.class_count")
    assert known_leak("metrics.tau") == known_leak("metrics.confidence_from_0.95")


def test_nothing_is_made_up_about_a_field_from_outside() -> None:
    assert known_leak("statistics.of_my_own") == NOT_MEASURED


def test_a_line_of_the_table_is_short_enough_for_a_terminal() -> None:
    assert max(len(known_leak(field)) for field in sent()) <= 90
