"""Tables for people: of pandas where it is installed, else plain rows."""

from __future__ import annotations

import html
import importlib
import importlib.util
from collections.abc import Iterable, Mapping
from typing import Any, SupportsIndex, TypeAlias, overload

from fedsemi.text.printable import printable

Table: TypeAlias = Any
"""A `pandas.DataFrame` if pandas is installed, else `Rows`."""

_SHOWN = 20
"""Rows of a longer table that are shown: half from its head, half from its tail."""


def table(rows: Iterable[Mapping[str, Any]]) -> Table:
    """Make a table of rows that have the same columns."""
    plain = Rows(dict(row) for row in rows)
    if not has_pandas():
        return plain
    # Not a dependency: imported where somebody has it.
    pandas: Any = importlib.import_module("pandas")
    return pandas.DataFrame(list(plain))


def has_pandas() -> bool:
    """Tell whether tables are of pandas here."""
    return importlib.util.find_spec("pandas") is not None


class Rows(list[dict[str, Any]]):
    """A list of rows, each a dict, that shows itself as a table."""

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return list(self[0]) if self else []

    def column(self, name: str) -> list[Any]:
        """Return one column, top to bottom.

        >>> Rows([{"round": 1, "accuracy": 0.5}, {"round": 2, "accuracy": 0.75}])
        round  accuracy
            1       0.5
            2      0.75
        >>> Rows([{"round": 1}, {"round": 2}]).column("round")
        [1, 2]
        """
        return [row[name] for row in self]

    @overload
    def __getitem__(self, index: SupportsIndex) -> dict[str, Any]: ...
    @overload
    def __getitem__(self, index: slice) -> Rows: ...
    def __getitem__(self, index: SupportsIndex | slice) -> dict[str, Any] | Rows:
        found = super().__getitem__(index)
        return Rows(found) if isinstance(found, list) else found

    def __repr__(self) -> str:
        if not self:
            return "(no rows)"
        cells = self._cells()
        widths = [max(len(row[i]) for row in cells) for i in range(len(cells[0]))]
        return "\n".join(
            "  ".join(c.rjust(w) for c, w in zip(row, widths, strict=True)).rstrip()
            for row in cells
        )

    def _repr_html_(self) -> str:
        """Show the table in a notebook."""
        head, *rows = self._cells() if self else [["(no rows)"]]
        lines = [_html(head, "th"), *(_html(row, "td") for row in rows)]
        return f"<table>{''.join(lines)}</table>"

    def _cells(self) -> list[list[str]]:
        rows = [[_shown(row.get(name)) for name in self.columns] for row in self]
        if len(rows) > _SHOWN:
            half, between = _SHOWN // 2, ["…"] * len(self.columns)
            rows = [*rows[:half], between, *rows[-half:]]
        return [[printable(name) for name in self.columns], *rows]


def _shown(value: Any) -> str:
    if value is None:
        return "–"
    return f"{value:.4g}" if isinstance(value, float) else printable(str(value), 60)


def _html(cells: Iterable[str], tag: str) -> str:
    inner = "".join(f"<{tag}>{html.escape(cell)}</{tag}>" for cell in cells)
    return f"<tr>{inner}</tr>"
