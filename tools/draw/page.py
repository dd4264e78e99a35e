"""What docs/architecture.md says in numbers: lines to read for a round."""

from __future__ import annotations

import re
from pathlib import Path

from tools.draw.path import lines_to_read

_BLOCK = re.compile(r"(<!-- drawn -->\n).*?(\n<!-- end -->)", re.DOTALL)


def written(page: str, source: Path) -> str:
    """Return the page with the numbers of today."""
    return _BLOCK.sub(lambda found: found[1] + _sentence(source) + found[2], page)


def _sentence(source: Path) -> str:
    count = lines_to_read(source)
    return (
        f"Counted over the functions of the picture, those that call them and the "
        f"types that travel, a round is **{count['round']} lines** to read, "
        f"{count['equations']} more with SemiAnAgg's two equations and "
        f"{count['checks']} more with what checks the answers at both ends: "
        f"{sum(count.values())} in all."
    )
