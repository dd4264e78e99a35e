"""The page about the public surface is true: its snippets run, it names every name."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import fedsemi
from fedsemi.plugins.registry import REGISTRIES

PAGE = Path(__file__).parents[1] / "docs" / "api.md"
TEXT = PAGE.read_text("utf-8")


def snippets(text: str) -> list[str]:
    return re.findall(r"^```python\n(.*?)^```$", text, re.M | re.S)


def test_every_public_name_is_on_the_page() -> None:
    missing = {name for name in fedsemi.__all__ if not re.search(rf"\b{name}\b", TEXT)}
    assert missing == {"__version__"}


def test_every_name_on_the_page_is_public() -> None:
    used = set(re.findall(r"\bfedsemi\.(\w+)\b", "\n".join(snippets(TEXT))))
    assert used <= set(fedsemi.__all__)


@pytest.mark.slow
def test_the_snippets_run_one_after_the_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for registry in REGISTRIES.values():  # what the snippets add stays here
        monkeypatch.setattr(registry, "_added", dict(registry.added))
    names: dict[str, object] = {"__name__": "snippets"}
    for number, code in enumerate(snippets(TEXT)):
        exec(compile(code, f"{PAGE.name} snippet {number}", "exec"), names)
    assert (tmp_path / "report.html").is_file()
