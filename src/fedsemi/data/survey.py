"""Look over folders that nobody has described yet, and propose settings for them."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from fedsemi.data.decode import SCANS, is_image, probe
from fedsemi.data.folder_labels import LABELS_FILE, UNLABELED
from fedsemi.data.label_table import delimiter_of, slip_of
from fedsemi.data.safe_files import Refused, read_regular, walk
from fedsemi.data.site_settings import Labels, SitesSettings, existing
from fedsemi.errors import DataError

_GRAY = ("1", "L", "LA", "La", "I", "F")
_SAMPLE = 200
_OFTEN = 10
_RARE = 10  # a name with this many images is no slip


@dataclass(frozen=True)
class Survey:
    """What a first look at one folder shows."""

    folder: Path
    name: str
    num_files: int
    labels: Labels
    classes: dict[str, int]
    """How often each class is named."""
    modes: dict[str, int]
    side: float
    """The median of the shorter sides of a sample of pictures; 0 if there are none."""
    deep_top: float | None
    """The largest value in 16-bit pictures of the sample."""
    sites: tuple[str, ...] = ()
    """The sub-folders, if they look like sites rather than like classes."""
    links: tuple[str, ...] = ()
    """Links and other entries that are never followed."""


def survey(folder: Path) -> Survey:
    """Look at the names of all files and at a sample of their contents."""
    folder = existing(folder)
    entries = list(walk(folder))
    files = [name for name, regular in entries if regular and is_image(name)]
    labels, classes = _classes(folder, files)
    modes: Counter[str] = Counter()
    sides, tops = [], []
    for name in files[:: max(1, len(files) // _SAMPLE)]:
        try:
            mode, size, top = probe(name, read_regular(folder, name))
        except Refused:
            continue
        modes[mode] += 1
        if not name.lower().endswith(SCANS):
            sides.append(min(size))
        if top is not None:
            tops.append(top)
    return Survey(
        folder,
        folder.resolve().name,
        len(files),
        labels,
        classes,
        dict(modes),
        float(np.median(sides)) if sides else 0.0,
        max(tops) if tops else None,
        _looks_like_sites(folder, files) if labels == "folders" else (),
        tuple(name for name, regular in entries if not regular),
    )


@dataclass(frozen=True)
class Proposal:
    """Settings for folders, and what was concluded about their classes."""

    settings: SitesSettings
    counts: dict[str, int]
    """How often each class is named, the test folder included."""
    slips: dict[str, str]
    """Names that look like typing slips, and the classes that were meant."""
    unlabeled: tuple[Survey, ...]
    """Sites whose sub-folders are no classes: dates, or one that nobody else knows."""
    untested: dict[str, list[str]]
    """Classes that the test folder lacks, and the sites that have them."""


def propose(surveys: Sequence[Survey], test: Survey | None = None) -> Proposal:
    """Propose [sites] for the folders, paths as given."""
    everyone = [*surveys, *([test] if test else [])]
    unlabeled = _without_labels(surveys, everyone)
    labeled = [s for s in everyone if s not in unlabeled]
    counts, slips = classes_and_slips(labeled)
    settings = SitesSettings(
        folders=[str(s.folder) for s in surveys],
        classes=sorted(counts),
        labels={s.name: "none" if s in unlabeled else s.labels for s in surveys},
        test=None if test is None else str(test.folder),
        **_pixels(everyone),
    )
    settings.check_folders()
    untested = {
        name: [s.name for s in labeled if name in s.classes]
        for name in settings.classes
        if test is not None and name not in test.classes
    }
    return Proposal(settings, counts, slips, tuple(unlabeled), untested)


def require_classes(classes: Sequence[str]) -> None:
    """Refuse folders that show nothing to tell apart."""
    if len(classes) < 2:
        raise DataError(
            f"the folders show {len(classes)} classes, two are needed; sort the images "
            "of one site into a sub-folder for each class, or give it a labels.csv "
            "with the columns file,label",
            code="FS3202",
        )


def classes_and_slips(
    surveys: Sequence[Survey],
) -> tuple[dict[str, int], dict[str, str]]:
    """Count each class; apart from them, say which class a typing slip means."""
    counts = sum((Counter(s.classes) for s in surveys), Counter[str]())
    meant = {name: _meant(name, counts) for name in sorted(counts)}
    slips = {name: known for name, known in meant.items() if known is not None}
    return {name: counts[name] for name in meant if name not in slips}, slips


def image_size(surveys: Sequence[Survey]) -> int:
    """Propose the side of the network's input, of a size that a CPU can train."""
    sides = [s.side for s in surveys if s.side]
    return 32 if not sides or float(np.median(sides)) <= 48 else 64


def _classes(folder: Path, files: Sequence[str]) -> tuple[Labels, dict[str, int]]:
    if (folder / LABELS_FILE).exists():
        return "csv", _named_in_table(folder)
    tops = Counter(name.split("/")[0] for name in files if "/" in name)
    tops.pop(UNLABELED, None)
    return ("folders", dict(tops)) if tops else ("none", {})


def _named_in_table(folder: Path) -> dict[str, int]:
    """Count the labels of a CSV leniently; the strict reading comes later."""
    try:
        text = read_regular(folder, LABELS_FILE).decode("utf-8-sig", "surrogateescape")
        text = text.replace("\0", "")
        lines = io.StringIO(text, newline="")
        rows = list(csv.reader(lines, delimiter=delimiter_of(text)))
    except (Refused, csv.Error):
        return {}
    header = [cell.strip().lower() for cell in rows[0]] if rows else []
    if "label" not in header:
        raise DataError(
            f"{folder.name}: labels.csv has the columns {', '.join(header)!r}; name "
            "the one with the classes 'label' and the one with the files 'file'",
            code="FS3201",
        )
    column = header.index("label")
    cells = (row[column].strip() for row in rows[1:] if column < len(row))
    return dict(Counter(cell for cell in cells if cell))


def _looks_like_sites(folder: Path, files: Sequence[str]) -> tuple[str, ...]:
    """Return the sub-folders if they hold what a site holds rather than a class."""
    tops = dict.fromkeys(name.split("/")[0] for name in files if "/" in name)
    nested = any(name.count("/") > 1 for name in files)
    tables = any((folder / top / LABELS_FILE).exists() for top in tops)
    return tuple(tops) if nested or tables else ()


def _without_labels(
    surveys: Sequence[Survey], everyone: Sequence[Survey]
) -> list[Survey]:
    """Return the sites whose sub-folders are dates, or one that nobody else knows.

    If all of them together show two classes and the others do not, each may be a site
    that has one class.
    """
    lone = [
        s
        for s in surveys
        if s.labels == "folders"
        and len(s.classes) == 1
        and not any(
            slip_of(next(iter(s.classes)), o.classes) for o in everyone if o is not s
        )
    ]
    dated = [
        s for s in surveys if s.labels == "folders" and all(map(_dated, s.classes))
    ]
    no_classes = [s for s in surveys if s in lone or s in dated]
    of_others, _ = classes_and_slips([s for s in everyone if s not in no_classes])
    of_all, _ = classes_and_slips(everyone)
    return no_classes if len(of_others) > 1 or len(of_all) < 2 else []


def _dated(name: str) -> bool:
    """Tell whether a folder is named after a year, month or day.

    >>> _dated("2021"), _dated("2021-03"), _dated("2021_03_17"), _dated("9")
    (True, True, True, False)
    """
    return re.fullmatch(r"(19|20)\d\d([-_. ]?\d\d){0,2}", name) is not None


def _meant(name: str, counts: Counter[str]) -> str | None:
    """Tell a typing slip from a class: rare, and much like a frequent one.

    Of names that differ only in case, the most frequent one is the class.
    """
    same = [other for other in counts if other.casefold() == name.casefold()]
    first = max(same, key=lambda other: (counts[other], other))
    if first != name:
        return first
    frequent = [n for n, count in counts.items() if count >= counts[name] * _OFTEN]
    return slip_of(name, frequent) if counts[name] < _RARE else None


def _pixels(surveys: Sequence[Survey]) -> dict[str, Any]:
    """Propose the settings about channels and depth."""
    modes = sum((Counter(s.modes) for s in surveys), Counter[str]())
    tops = [s.deep_top for s in surveys if s.deep_top is not None]
    scans = any(mode in ("dcm", "nii", "gz") for mode in modes)
    gray = all(mode in _GRAY or mode.startswith("I;16") for mode in modes)
    return {
        "channels": 1 if modes and (gray or scans) else 3,
        "sixteen_bit_range": [0, _full_scale(max(tops))] if tops else None,
    }


def _full_scale(top: float) -> float:
    """Return the largest value of the bit depth that a value needs: 4095 for 3000."""
    return next((2**bits - 1 for bits in (8, 10, 12, 14, 16) if top < 2**bits), top)
