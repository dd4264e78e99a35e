from __future__ import annotations

import doctest
import importlib

import pytest


@pytest.mark.parametrize(
    "name",
    [
        "fedsemi.server.alarms",
        "fedsemi.method",
        "fedsemi.seeds",
        "fedsemi.use.progress",
    ],
)
def test_examples_in_docstrings_hold(name: str) -> None:
    result = doctest.testmod(importlib.import_module(name))
    assert result.attempted
    assert not result.failed
