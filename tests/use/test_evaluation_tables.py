"""A test on a terminal."""

from __future__ import annotations

import io
from dataclasses import replace

from rich.console import Console
from tests.report.test_evaluation import answers

from fedsemi.report.evaluation import facts_of
from fedsemi.use.evaluation_tables import lines_of, tables_of


def shown(facts: dict) -> str:
    console = Console(width=200, file=io.StringIO())
    for part in (*lines_of(facts), *tables_of(facts)):
        console.print(part)
    return console.file.getvalue()


def test_a_class_without_test_images_is_named_not_passed_over() -> None:
    text = shown(facts_of(answers([0, 1] * 20, num_classes=3)))
    assert "40 test images, 2 of 3 classes; no image of c" in text
    assert "no test image" in text


def test_a_class_of_few_images_is_called_an_anecdote() -> None:
    text = shown(facts_of(answers([0] * 30 + [1] * 3)))
    assert "fewer than 10 images of b" in text


def test_subgroups_with_other_classes_stand_apart() -> None:
    outcome = replace(
        answers([0, 1] * 10 + [0] * 12 + [0, 1] * 2),
        columns={"sex": ("f",) * 20 + ("m",) * 12 + ("x",) * 4},
    )
    lines = shown(facts_of(outcome)).splitlines()
    women, divider, men, few = lines[-4:]
    assert women.split()[:2] == ["f", "20"]
    assert "1 of 2 classes, without b" in divider
    assert men.split()[:2] == ["m", "12"] and men.rstrip().endswith("–"), "no area"
    assert "too few images: x (4)" in few


def test_nothing_to_show_is_said() -> None:
    assert "no labeled test image" in shown({})
