"""A site's labels.csv: `file,label[,group]`, a blank label for an unlabeled image.

Further columns (`sex`, `age`, …) say what kinds of images there are.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from fedsemi.data.safe_files import inside
from fedsemi.errors import DataError, most_alike, nearest
from fedsemi.storage import write_whole

LEFT_OUT = "left_out.csv"
PROBLEMS = "problems.csv"
"""What `fedsemi check` lists: left out, tested on, or of two classes."""
COLUMNS = ("file", "label", "group")
FOREIGN = "FS3202"
"""The code of what has a class that the federation does not know."""
_FIELD_LIMIT = 4096
_ALIKE = 0.6  # 'tow' is a slip of 'two' (0.67), 'cat-scan' none of 'cat' (0.55)


@dataclass(frozen=True)
class LeftOut:
    """Something of a site that is not used, and why."""

    site: str
    file: str
    code: str
    reason: str
    line: int | None = None
    """Of labels.csv, where the fault is there."""

    def __str__(self) -> str:
        place = self.file if self.line is None else f"labels.csv line {self.line}"
        return f"{place}: {self.reason}"

    @property
    def remedy(self) -> str:
        """What somebody can do about it."""
        return _REMEDIES.get(self.code, "repair or delete it")


_REMEDIES = {
    "FS3102": "put the pictures themselves there, as plain files",
    "FS3103": "make it smaller",
    "FS3104": "save it as the reason says",
    "FS3201": "repair that line of labels.csv",
    FOREIGN: "add the class to sites.classes everywhere, or rename it",
    "FS3401": "delete it on one side",
    "FS3403": "find out which class is right, and delete the other",
}


def write_left_out(path: Path, left_out: Sequence[LeftOut]) -> None:
    """List what was left out, a line each; names keep their bytes."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["site", "file", "line", "code", "reason", "what to do"])
    for it in left_out:
        row = [it.site, it.file, it.line or "", it.code, it.reason, it.remedy]
        writer.writerow(row)
    write_whole(path, text.getvalue().encode("utf-8", "surrogateescape"))


@dataclass
class LabelTable:
    """What a labels.csv says."""

    labels: dict[str, str | None] = field(default_factory=dict)
    """The class by file; None where the field is blank."""
    groups: dict[str, str] = field(default_factory=dict)
    """The patient, lesion or other group by file, where there is one."""
    columns: dict[str, dict[str, str]] = field(default_factory=dict)
    """What further columns say of a file, by their names and its own."""
    left_out: list[LeftOut] = field(default_factory=list)
    num_rows: int = 0
    lines: dict[str, int] = field(default_factory=dict)
    """Where each file is named first."""
    faulty: set[str] = field(default_factory=set)
    """Files with a bad row."""


def read_table(content: bytes, site: str, classes: Sequence[str]) -> LabelTable:
    """Parse a labels.csv strictly; a bad row is left out and named by its line.

    A row whose class is unknown and no typing slip is left out as `FOREIGN`.

    Raises:
        DataError: The file is no such table, or names a path outside the folder.
    """
    where = f"{site}: labels.csv"
    text = _text(content, where)
    reader = csv.reader(
        io.StringIO(text, newline=""), strict=True, delimiter=delimiter_of(text)
    )
    csv.field_size_limit(_FIELD_LIMIT)
    table = LabelTable()
    columns: dict[str, int] | None = None
    try:
        for row in reader:
            if not any(cell.strip() for cell in row):
                continue
            if columns is None:
                columns = _columns(row, where)
                continue
            table.num_rows += 1
            _take(table, row, columns, site, reader.line_num, classes)
    except csv.Error as error:
        raise DataError(
            f"{where} line {reader.line_num}: {error}; check the quotes there",
            code="FS3201",
        ) from None
    if columns is None:
        raise DataError(
            f"{where} is empty; its first line must be 'file,label'", code="FS3201"
        )
    return table


def delimiter_of(text: str) -> str:
    r"""Tell what stands between columns: a comma, or what a spreadsheet wrote.

    >>> delimiter_of("file;label\na.png;cat\n"), delimiter_of("file,label\n")
    (';', ',')
    """
    first = text.lstrip().split("\n", 1)[0]
    return max(",;\t", key=first.count)


def slip_of(label: str, classes: Iterable[str]) -> str | None:
    """Return the class that a label is probably a typing slip of, if there is one."""
    return most_alike(label, classes, _ALIKE)


def not_listed(label: str, classes: Sequence[str]) -> str:
    """Say that a class is outside the federation's list, and which is nearest."""
    hint = nearest(label, classes)
    return f"class '{label}' is not in the federation's list{hint}"


def _text(content: bytes, where: str) -> str:
    # Names in another encoding than UTF-8 are kept byte for byte.
    text = content.decode("utf-8-sig", "surrogateescape")
    if "\0" in text:
        raise DataError(
            f"{where} holds zero bytes, so it is no CSV text; save it as UTF-8",
            code="FS3201",
        )
    return text


def _columns(header: list[str], where: str) -> dict[str, int]:
    names = [cell.strip().lower() for cell in header]
    if "file" not in names or "label" not in names or len(set(names)) < len(names):
        raise DataError(
            f"{where} line 1: the columns are {', '.join(names)!r}, but 'file' and "
            "'label' (and if you like 'group') are needed, each once",
            code="FS3201",
        )
    return {name: place for place, name in enumerate(names) if name}


def _take(
    table: LabelTable,
    row: list[str],
    columns: dict[str, int],
    site: str,
    line: int,
    classes: Sequence[str],
) -> None:
    """Take one row over, or note why not."""
    needed = max(columns[name] for name in COLUMNS if name in columns)
    if len(row) <= needed:
        name = row[columns["file"]] if columns["file"] < len(row) else ""
        reason = f"has {len(row)} fields, not {needed + 1}"
        table.left_out.append(LeftOut(site, name, "FS3201", reason, line))
        return
    name = inside(row[columns["file"]], f"{site}: labels.csv line {line}")
    label = row[columns["label"]].strip() or None
    fault = _fault(table, name, label, classes)
    if fault:
        table.left_out.append(LeftOut(site, name, *fault, line))
        table.faulty.add(name)
        table.labels.pop(name, None)
        return
    table.labels[name] = label
    table.lines.setdefault(name, line)
    if "group" in columns and (group := row[columns["group"]].strip()):
        table.groups[name] = group
    for column, place in columns.items():
        if column not in COLUMNS and place < len(row):
            table.columns.setdefault(column, {})[name] = row[place].strip()


def _fault(
    table: LabelTable, name: str, label: str | None, classes: Sequence[str]
) -> tuple[str, str] | None:
    """Return the code and the reason of what is wrong with a row."""
    if label is not None and label not in classes:
        if not slip_of(label, classes):
            return FOREIGN, not_listed(label, classes)
        return "FS3201", f"class '{label}' unknown{nearest(label, classes)}"
    if name in table.faulty:
        return "FS3201", "is named again after a bad row"
    if name in table.lines and table.labels[name] != label:
        return "FS3201", f"has another label in line {table.lines[name]}"
    return None
