"""reference.json says what the package says; what a method sends was measured."""

from __future__ import annotations

import json

import pytest

from fedsemi.cli.reference import FILE, reference
from fedsemi.cli.write_reference import (
    known_method,
    made,
    measured,
    sent,
    shown,
    text_of,
    total,
)
from fedsemi.methods import METHODS
from fedsemi.simulation.ledger import Ledger

LEDGER = Ledger(
    model=1000,
    transfers=20,
    fields={"model": 1000, "diversity": 40, "counts": 24},
    up=10_640,
    down=10_000,
    first_extra=0,
)


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0, "0 B"),
        (999, "999 B"),
        (1_000, "1 kB"),
        (999_499, "999 kB"),
        (1_000_000, "1 MB"),
        (2_600_000, "3 MB"),
    ],
)
def test_bytes_are_written_in_the_largest_unit_that_fits(
    number: int, text: str
) -> None:
    assert shown(number) == text


def test_what_a_site_sends_is_the_model_and_what_else_by_name() -> None:
    assert sent(LEDGER) == "M, diversity 40 B, counts 24 B"


def test_a_round_is_counted_in_models_and_bytes_beside_them() -> None:
    # 20,640 bytes both ways, of which the model 20 times is 20,000.
    assert total(LEDGER) == "20 M + 640 B"


def test_all_but_what_is_measured_is_as_the_package_says() -> None:
    stored = {each.name: (each.sends, each.round) for each in reference().methods}
    assert list(stored) == list(METHODS.own), "run `make reference`"
    fresh = made(known_method(name, *stored[name]) for name in METHODS.own)
    assert text_of(fresh) == FILE.read_text("utf-8"), "run `make reference`"


def test_it_is_read_as_it_was_written() -> None:
    assert text_of(reference()) == FILE.read_text("utf-8")
    assert json.loads(FILE.read_text("utf-8"))["datasets"][0] == "synthetic"


@pytest.mark.parametrize("name", ["supervised", "semianagg"])
def test_what_two_methods_send_is_as_it_was_measured(name: str) -> None:
    assert measured(name) == reference().method(name)


@pytest.mark.slow
@pytest.mark.parametrize("name", METHODS.own)
def test_what_a_method_sends_is_as_it_was_measured(name: str) -> None:
    assert measured(name) == reference().method(name), "run `make reference`"
