"""The files in docs/adding-a-method.md, each by the name that it begins with."""

from __future__ import annotations

from pathlib import Path

from .blocks import ROOT, blocks_of

PAGE = ROOT / "docs" / "adding-a-method.md"


def files_on_the_page() -> dict[str, str]:
    """Return the content of each file by its name."""
    return {block.file: block.text for block in blocks_of(PAGE) if block.file}


def write_files(folder: Path) -> None:
    """Write them all to a folder."""
    for name, content in files_on_the_page().items():
        (folder / name).write_text(content, encoding="utf-8")
