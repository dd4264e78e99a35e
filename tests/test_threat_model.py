"""The threat model names tests that exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

_ROOT = Path(__file__).parents[1]
_PAGE = (_ROOT / "docs" / "threat-model.md").read_text("utf-8")


@pytest.mark.parametrize(
    "name", sorted(set(re.findall(r"`([\w/]*test_\w+\.py)`", _PAGE)))
)
def test_a_test_that_the_page_names_is_there(name: str) -> None:
    assert len(list((_ROOT / "tests").rglob(name))) == 1


@pytest.mark.parametrize("code", sorted(set(re.findall(r"FS\d{4}", _PAGE))))
def test_an_error_that_the_page_names_is_explained(code: str) -> None:
    assert f"| {code} |" in (_ROOT / "docs" / "errors.md").read_text("utf-8")
