"""All that is drawn, and where it lies."""

from __future__ import annotations

from pathlib import Path

from tools.draw import page, rooms, round

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "architecture.md"


def drawn(source: Path = ROOT / "src" / "fedsemi") -> dict[Path, str]:
    """Draw everything again: what should be in which file."""
    images = ROOT / "docs" / "images"
    return {
        images / "rooms.svg": rooms.draw(source),
        images / "round.svg": round.draw(source),
        PAGE: page.written(PAGE.read_text("utf-8"), source),
    }
