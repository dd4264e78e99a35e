"""Which class each file of a site has: from a CSV, from sub-folders, or none."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from fedsemi.data.label_table import FOREIGN, LeftOut, not_listed, read_table
from fedsemi.data.safe_files import Refused, read_regular
from fedsemi.data.site_settings import SitesSettings
from fedsemi.errors import DataError

LABELS_FILE = "labels.csv"
UNLABELED = "unlabeled"
"""The sub-folder whose images have no label."""


@dataclass(frozen=True)
class Known:
    """What is known about the files of a site."""

    classes: dict[str, str] = field(default_factory=dict)
    """By file; a file that is not here has no label."""
    groups: dict[str, str] = field(default_factory=dict)
    columns: dict[str, dict[str, str]] = field(default_factory=dict)
    """What further columns of the CSV say, by column and file."""
    left_out: tuple[LeftOut, ...] = ()
    faulty: frozenset[str] = frozenset()
    """Files that a bad row of the CSV is about: not used at all."""
    num_rows: int = 0

    def label(self, file: str, settings: SitesSettings) -> int:
        """Return the number of a file's class, -1 for none."""
        if file not in self.classes:
            return -1
        return settings.classes.index(self.classes[file])


def known_labels(
    folder: Path, site: str, settings: SitesSettings, files: Sequence[str]
) -> Known:
    """Find the labels of a site in the way its settings say.

    What has a class that the federation does not know is left out as `FOREIGN`.
    """
    kind = settings.labels_of(site)
    if kind == "none":
        return Known()
    if kind == "csv" or (kind == "auto" and (folder / LABELS_FILE).exists()):
        return _from_table(folder, site, settings, files)
    return _from_folders(site, settings, files)


def refuse_foreign(left_out: Iterable[LeftOut], classes: Sequence[str]) -> None:
    """Refuse a site that uses a class outside the federation's list.

    Raises:
        DataError: It does; the first place is named.
    """
    first = next((it for it in left_out if it.code == FOREIGN), None)
    if first is not None:
        raise DataError(
            f"{first.site}: {first} — the site cannot join. The list is "
            f"{', '.join(classes)}; {foreign_remedy(first)}",
            code=FOREIGN,
        )


def foreign_remedy(found: LeftOut) -> str:
    """Say what to do about a class outside the federation's list."""
    remedy = "add the class to sites.classes everywhere, or rename it here"
    if found.line is not None:
        return remedy
    return (
        f"{remedy}; if the sub-folders of {found.site} are not classes, set "
        f"sites.labels = {{ {json.dumps(found.site, ensure_ascii=False)} = 'none' }}"
    )


def _from_table(
    folder: Path, site: str, settings: SitesSettings, files: Sequence[str]
) -> Known:
    try:
        content = read_regular(folder, LABELS_FILE)
    except Refused as error:
        raise DataError(f"{site}: labels.csv {error}", code=error.code) from None
    table = read_table(content, site, settings.classes)
    there = set(files)
    absent = [
        LeftOut(site, name, "FS3201", "there is no such image", table.lines[name])
        for name in table.labels
        if name not in there
    ]
    return Known(
        {name: label for name, label in table.labels.items() if label is not None},
        table.groups,
        table.columns,
        (*table.left_out, *absent),
        frozenset(table.faulty),
        table.num_rows,
    )


def _from_folders(site: str, settings: SitesSettings, files: Sequence[str]) -> Known:
    classes, foreign = {}, []
    for name in files:
        top, _, rest = name.partition("/")
        if not rest or top == UNLABELED:
            continue
        if top in settings.classes:
            classes[name] = top
        else:
            reason = not_listed(top, settings.classes)
            foreign.append(LeftOut(site, name, FOREIGN, reason))
    faulty = frozenset(it.file for it in foreign)
    return Known(classes, left_out=tuple(foreign), faulty=faulty)
