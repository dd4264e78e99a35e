"""The files in docs/adding-a-method.md, each by the name that it begins with."""

from __future__ import annotations

import re
from pathlib import Path

PAGE = Path(__file__).parents[1] / "docs" / "adding-a-method.md"


def files_on_the_page() -> dict[str, str]:
    """Return the content of each file by its name."""
    blocks = re.findall(
        r"^```(?:python|toml)\n(.*?)^```$", PAGE.read_text("utf-8"), re.M | re.S
    )
    named = (re.match(r"# (\S+\.(?:py|toml))\n", block) for block in blocks)
    return {name[1]: block for name, block in zip(named, blocks, strict=True) if name}


def write_files(folder: Path) -> None:
    """Write them all to a folder."""
    for name, content in files_on_the_page().items():
        (folder / name).write_text(content, encoding="utf-8")
