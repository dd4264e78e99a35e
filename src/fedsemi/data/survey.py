"""Look over folders that nobody has described yet, and propose settings for them."""

from __future__ import annotations

import csv
import difflib
import io
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from fedsemi.data.decode import SCANS, is_image, probe
from fedsemi.data.folder_labels import LABELS_FILE, UNLABELED
from fedsemi.data.safe_files import Refused, read_regular, walk
from fedsemi.data.site_settings import Labels, SitesSettings, existing
from fedsemi.errors import DataError

_GREY = ("1", "L", "LA", "La", "I", "F")
_SAMPLE = 200
_OFTEN = 10


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


def survey(folder: Path) -> Survey:
    """Look at the names of all files and at a sample of their contents."""
    folder = existing(folder)
    files = [name for name, regular in walk(folder) if regular and is_image(name)]
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
    )


def propose(surveys: Sequence[Survey], test: Survey | None = None) -> SitesSettings:
    """Propose [sites] for the folders, paths as given."""
    everyone = [*surveys, *([test] if test else [])]
    classes, _ = classes_and_slips(everyone)
    if len(classes) < 2:
        raise DataError(
            f"the folders show {len(classes)} classes, two are needed; sort the images "
            "of one site into a sub-folder for each class, or give it a labels.csv "
            "with the columns file,label",
            code="FS3202",
        )
    modes = sum((Counter(s.modes) for s in everyone), Counter[str]())
    tops = [s.deep_top for s in everyone if s.deep_top is not None]
    scans = any(mode in ("dcm", "nii", "gz") for mode in modes)
    grey = all(mode in _GREY or mode.startswith("I;16") for mode in modes)
    return SitesSettings(
        folders=[str(s.folder) for s in surveys],
        classes=classes,
        labels={s.name: s.labels for s in surveys},
        test=None if test is None else str(test.folder),
        channels=1 if modes and (grey or scans) else 3,
        sixteen_bit_range=[0, _full_scale(max(tops))] if tops else None,
    )


def classes_and_slips(surveys: Sequence[Survey]) -> tuple[list[str], list[str]]:
    """Return all names of classes, and apart those that look like typing slips."""
    counts = sum((Counter(s.classes) for s in surveys), Counter[str]())
    slips = sorted(name for name in counts if _is_slip(name, counts))
    return sorted(counts.keys() - set(slips)), slips


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
        rows = list(csv.reader(io.StringIO(text.replace("\0", ""), newline="")))
    except (Refused, csv.Error):
        return {}
    header = [cell.strip().lower() for cell in rows[0]] if rows else []
    if "label" not in header:
        return {}
    column = header.index("label")
    cells = (row[column].strip() for row in rows[1:] if column < len(row))
    return dict(Counter(cell for cell in cells if cell))


def _is_slip(name: str, counts: Counter[str]) -> bool:
    """Tell a typing slip from a class: rare, and much like a frequent one."""
    frequent = [n for n, count in counts.items() if count >= counts[name] * _OFTEN]
    return bool(difflib.get_close_matches(name, frequent, n=1, cutoff=0.8))


def _full_scale(top: float) -> float:
    """Return the largest value of the bit depth that a value needs: 4095 for 3000."""
    return next((2**bits - 1 for bits in (8, 10, 12, 14, 16) if top < 2**bits), top)
