"""Every example in a docstring of the package runs."""

from __future__ import annotations

import doctest
import importlib
from pathlib import Path

import pytest

import fedsemi

PACKAGE = Path(fedsemi.__file__).parent


def modules_with_examples() -> list[str]:
    """List all modules with a prompt, by their text: what is not run is not missed."""
    paths = [
        path.relative_to(PACKAGE.parent).with_suffix("")
        for path in sorted(PACKAGE.rglob("*.py"))
        if ">>> " in path.read_text("utf-8")
    ]
    return [".".join(path.parts).removesuffix(".__init__") for path in paths]


@pytest.mark.parametrize("name", modules_with_examples())
def test_examples_in_docstrings_hold(name: str) -> None:
    result = doctest.testmod(importlib.import_module(name))
    assert result.attempted, "an example that doctest does not find"
    assert not result.failed
