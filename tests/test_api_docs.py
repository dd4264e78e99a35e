"""The page about the public surface names every name, and no other."""

from __future__ import annotations

import re
from pathlib import Path

import fedsemi

from .blocks import blocks_of

PAGE = Path(__file__).parents[1] / "docs" / "api.md"
TEXT = PAGE.read_text("utf-8")


def test_every_public_name_is_on_the_page() -> None:
    missing = {name for name in fedsemi.__all__ if not re.search(rf"\b{name}\b", TEXT)}
    assert missing == {"__version__"}


def test_every_name_on_the_page_is_public() -> None:
    code = "\n".join(block.text for block in blocks_of(PAGE))
    used = set(re.findall(r"\bfedsemi\.(\w+)\b", code))
    assert used <= set(fedsemi.__all__)
