"""Write one label into a site's labels.csv, and leave every other byte as it was.

The table may be somebody's: with semicolons, columns of its own, Windows line ends, or
open in a spreadsheet meanwhile. So it is read again for each label, one record of it is
changed or added, and the file is replaced at one stroke.
"""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from fedsemi.data.folder_labels import LABELS_FILE
from fedsemi.data.label_table import COLUMNS, delimiter_of, read_table
from fedsemi.data.safe_files import Refused, inside, read_regular
from fedsemi.errors import DataError
from fedsemi.storage import write_whole

_MARK = "\ufeff"
"""What some spreadsheets begin a file with."""
_OTHERS = 0o077


def write_label(
    folder: Path,
    name: str,
    label: str | None,
    classes: Sequence[str],
    others: Mapping[str, str],
) -> None:
    """Give a picture a label, or take it away (None).

    Args:
        folder: Of the site.
        name: Of the picture, relative to the folder.
        label: One of the classes.
        classes: Of the federation.
        others: Labels that the folder has without a table, from its sub-folders: a
            table hides them, so a new one begins with them.

    Raises:
        DataError: The label is no class, or the table is damaged.
    """
    if label is not None and label not in classes:
        raise DataError(
            f"'{label}' is no class of this federation, so nothing was written; the "
            f"list is {', '.join(classes)}",
            code="FS6400",
        )
    name, path = inside(name, "a picture to label"), folder / LABELS_FILE
    there = os.path.lexists(path)
    text = _read(folder) if there else _new(others)
    read_table(_bytes(text), folder.resolve().name, classes)  # refuses what is none
    # As open to others as the table was, or as the folder is.
    private = not (path if there else folder).stat().st_mode & _OTHERS
    write_whole(path, _bytes(_changed(text, name, label or "")), private)


@dataclass(frozen=True)
class _Row:
    """A record of the table: its cells, and the lines that hold it."""

    cells: list[str]
    lines: str


def _changed(text: str, name: str, label: str) -> str:
    """Return the text with the label of one file changed, or with one more record."""
    mark, text = (_MARK, text[1:]) if text.startswith(_MARK) else ("", text)
    delimiter, end = delimiter_of(text), "\r\n" if "\r\n" in text else "\n"
    head, *rows = _rows(text, delimiter)
    names = [cell.strip().lower() for cell in head.cells]
    file, column = names.index("file"), names.index("label")
    parts, found = [mark, head.lines], False
    for row in rows:
        if len(row.cells) > max(file, column) and _plain(row.cells[file]) == name:
            found, cells = True, list(row.cells)
            cells[column] = label
            parts.append(_written(cells, delimiter, end))
        else:
            parts.append(row.lines)
    if not found:
        if not parts[-1].endswith(("\n", "\r")):
            parts.append(end)
        cells = [""] * len(names)
        cells[file], cells[column] = name, label
        parts.append(_written(cells, delimiter, end))
    return "".join(parts)


def _rows(text: str, delimiter: str) -> Iterator[_Row]:
    """Yield records with the lines that they stand on; blank lines go with the next."""
    lines = list(io.StringIO(text, newline=""))
    reader, start = csv.reader(iter(lines), strict=True, delimiter=delimiter), 0
    for cells in reader:
        if any(cell.strip() for cell in cells):
            yield _Row(cells, "".join(lines[start : reader.line_num]))
            start = reader.line_num
    if start < len(lines):
        yield _Row([], "".join(lines[start:]))


def _written(cells: Sequence[str], delimiter: str, end: str) -> str:
    text = io.StringIO(newline="")
    csv.writer(text, delimiter=delimiter, lineterminator=end).writerow(cells)
    return text.getvalue()


def _new(others: Mapping[str, str]) -> str:
    rows = [COLUMNS[:2], *sorted(others.items())]
    return "".join(_written(row, ",", "\n") for row in rows)


def _plain(name: str) -> str:
    return "/".join(part for part in name.split("/") if part not in ("", "."))


def _read(folder: Path) -> str:
    try:
        content = read_regular(folder, LABELS_FILE)
    except Refused as error:
        raise DataError(
            f"'{folder / LABELS_FILE}' {error}, so no label can go into it; put a "
            "plain file there, or none",
            code=error.code,
        ) from None
    return content.decode("utf-8", "surrogateescape")


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")
