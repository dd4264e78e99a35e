"""Read the folder of one site: safely, completely, and saying what was left out."""

from __future__ import annotations

import hashlib
import json
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from functools import cached_property
from os import cpu_count
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from fedsemi.data.checksums import Entry
from fedsemi.data.client import Client
from fedsemi.data.dataset import UNKNOWN, ImageSet
from fedsemi.data.decode import Bytes, Pixels, decode
from fedsemi.data.folder_files import hashed, listed, passed_over, unverified
from fedsemi.data.folder_labels import (
    Known,
    known_labels,
    refuse_foreign,
)
from fedsemi.data.held_out import hold_out
from fedsemi.data.label_table import FOREIGN, LeftOut
from fedsemi.data.readers.files import kept
from fedsemi.data.safe_files import Refused, read_regular
from fedsemi.data.site_settings import SitesSettings, existing
from fedsemi.errors import DataError
from fedsemi.text.printable import printable

# A row of the cache: facts as JSON in this many bytes, then the pixels.
_FACTS = 320
_DECODER = 1  # counted up when decoding changes, so that old caches are not used


@dataclass(frozen=True, eq=False)
class SiteData:
    """What one site holds; row i of every field is the same image."""

    name: str
    files: tuple[str, ...]
    images: Tensor
    """uint8 [N, C, H, W]"""
    labels: Tensor
    """int64 [N]; -1 for none"""
    groups: tuple[str | None, ...]
    """Patient or lesion, where it is known."""
    modes: tuple[str, ...]
    sizes: tuple[tuple[int, int], ...]
    entries: tuple[Entry, ...]
    left_out: tuple[LeftOut, ...]
    num_files: int
    """Images in the folder, unusable ones included."""
    num_rows: int
    """Rows of labels.csv."""
    notes: tuple[str, ...]
    columns: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """What further columns of labels.csv say of each image, blank for nothing."""

    def __len__(self) -> int:
        return len(self.files)

    @cached_property
    def pixel_digests(self) -> list[str]:
        """A fingerprint of each image's pixels: equal for exact duplicates."""
        return [
            hashlib.blake2b(image.tobytes(), digest_size=16).hexdigest()
            for image in self.images.numpy()
        ]

    def divided(
        self, id: int, held_out: float = 0.0, seed: int = 0
    ) -> tuple[Client, ImageSet | None]:
        """Return the site as a client, and the labeled images that it holds out.

        Args:
            id: Of the client.
            held_out: About this part of the labeled images, whole groups at a time.
            seed: Of the draw.
        """
        both, known = ImageSet(self.images, self.labels), self.labels != UNKNOWN
        names = [g or f"file {f}" for g, f in zip(self.groups, self.files, strict=True)]
        groups = np.unique(names, return_inverse=True)[1]
        rows = np.flatnonzero(known.numpy())
        learned, apart = hold_out(rows, groups, held_out, seed, id)
        labeled = both.take(learned)
        client = Client(id, labeled.images, labeled.labels, self.images[~known])
        return client, both.take(apart) if len(apart) else None


def read_site(
    folder: Path, settings: SitesSettings, side: int, lenient: bool = False
) -> SiteData:
    """Read all images of a site, resized to side x side.

    Files that cannot be used are left out and listed; more than `max_bad` of them, or
    a class that the federation does not know, stop it unless it is `lenient`.

    Raises:
        DataError: Too much is bad, or labels and classes do not fit together.
    """
    folder = existing(folder)
    name = folder.resolve().name
    files, left_out = listed(folder, name)
    labels = known_labels(folder, name, settings, files)
    if not lenient:
        refuse_foreign(labels.left_out, settings.classes)
    usable = [file for file in files if file not in labels.faulty]
    entries, refused = hashed(folder, usable)
    if settings.verify != "off":
        refused |= unverified(folder, entries, settings)
    usable = [file for file in usable if file not in refused]
    table = _decoded(folder, usable, entries, settings.pixels(side))
    found = zip(usable, table.facts, strict=True)
    refused |= {file: fact.refused for file, fact in found if fact.code}
    left_out += [LeftOut(name, f, *why) for f, why in sorted(refused.items())]
    site = _assembled(
        name,
        usable,
        table,
        entries,
        labels,
        settings,
        left_out,
        len(files),
        passed_over(folder),
    )
    for complaint in () if lenient else over_limit(site, settings.max_bad):
        raise complaint
    return site


def bad_parts(site: SiteData) -> Iterator[tuple[str, list[LeftOut], int]]:
    """Yield what is bad at a site and how much there was: its files, then its rows."""
    bad = [it for it in site.left_out if it.code != FOREIGN]
    files = [it for it in bad if it.line is None]
    rows = [it for it in bad if it.line is not None]
    if files:
        yield "images are unusable", files, site.num_files
    if rows:
        yield "rows of labels.csv are bad", rows, site.num_rows


def over_limit(site: SiteData, max_bad: float) -> Iterator[DataError]:
    """Yield an error for each part of a site of which too much is bad."""
    for what, bad, total in bad_parts(site):
        if len(bad) > max_bad * total:
            yield DataError(
                f"{site.name}: {len(bad)} of {total} {what}; the limit is {max_bad:.0%}"
                f" — stopped. First: {bad[0]}. `fedsemi check` lists all; repair them "
                "or raise sites.max_bad",
                code="FS3101" if bad[0].line is None else "FS3201",
            )


@dataclass(frozen=True)
class _Fact:
    """What decoding found out about one file."""

    mode: str = ""
    size: tuple[int, int] = (0, 0)
    code: str = ""
    reason: str = ""

    @property
    def refused(self) -> tuple[str, str]:
        return self.code, self.reason


@dataclass(frozen=True, eq=False)
class _Table:
    facts: list[_Fact]
    images: Bytes
    """[N, C, side, side], rows of refused files undefined"""


def _decoded(
    folder: Path, files: Sequence[str], entries: dict[str, Entry], pixels: Pixels
) -> _Table:
    """Decode in parallel, or take what an earlier run left in the cache."""
    listing = [(name[-12:].lower(), entries[name].sha256) for name in files]
    recipe = json.dumps([_DECODER, asdict(pixels), listing])
    key = f"folder-{hashlib.sha256(recipe.encode()).hexdigest()}"
    rows = kept(key, lambda: _decode_all(folder, files, pixels))
    return _Table(
        [_read_fact(row) for row in rows[:, :_FACTS]],
        rows[:, _FACTS:].reshape(-1, pixels.channels, pixels.side, pixels.side),
    )


def _decode_all(folder: Path, files: Sequence[str], pixels: Pixels) -> Bytes:
    area = pixels.channels * pixels.side**2
    rows = np.zeros((len(files), _FACTS + area), dtype=np.uint8)

    def one(row: int) -> None:
        try:
            image = decode(files[row], read_regular(folder, files[row]), pixels)
        except Refused as error:
            rows[row, :_FACTS] = _written(_Fact(code=error.code, reason=str(error)))
        else:
            rows[row, :_FACTS] = _written(_Fact(image.mode, image.size))
            rows[row, _FACTS:] = image.array.reshape(-1)

    with ThreadPoolExecutor(cpu_count()) as pool:
        list(pool.map(one, range(len(files))))
    return rows


def _written(fact: _Fact) -> Bytes:
    # What a decoder says may quote the file: letters that JSON spells with six each
    # would be cut in the middle.
    plain = printable(fact.reason).encode("ascii", "backslashreplace").decode()
    text = json.dumps([fact.mode[:30], fact.size, fact.code, plain[:130]])
    return np.frombuffer(text.encode().ljust(_FACTS)[:_FACTS], dtype=np.uint8)


def _read_fact(row: Bytes) -> _Fact:
    mode, (width, height), code, reason = json.loads(row.tobytes())
    return _Fact(mode, (width, height), code, reason)


def _assembled(
    site: str,
    usable: Sequence[str],
    table: _Table,
    entries: dict[str, Entry],
    labels: Known,
    settings: SitesSettings,
    left_out: Sequence[LeftOut],
    num_files: int,
    others: Counter[str],
) -> SiteData:
    good = [row for row, fact in enumerate(table.facts) if not fact.code]
    files = tuple(usable[row] for row in good)
    return SiteData(
        name=site,
        files=files,
        images=torch.from_numpy(table.images[good]),
        labels=torch.tensor(
            [labels.label(f, settings) for f in files], dtype=torch.int64
        ),
        groups=tuple(_group(f, labels, settings.patient) for f in files),
        modes=tuple(table.facts[row].mode for row in good),
        sizes=tuple(table.facts[row].size for row in good),
        entries=tuple(entries[f] for f in files),
        left_out=(*left_out, *labels.left_out),
        num_files=max(num_files, len(left_out)),
        num_rows=labels.num_rows,
        notes=tuple(_notes(site, files, others)),
        columns={
            column: tuple(words.get(f, "") for f in files)
            for column, words in labels.columns.items()
        },
    )


def _group(file: str, labels: Known, patient: str | None) -> str | None:
    if file in labels.groups:
        return labels.groups[file]
    found = re.search(patient, file) if patient else None
    return found.group(1) if found else None


def _notes(site: str, files: Sequence[str], others: Counter[str]) -> list[str]:
    notes = []
    if others:
        ends = ", ".join(f"{count} {end}" for end, count in others.most_common(6))
        notes.append(
            f"FS3106 {site}: {sum(others.values())} files are no pictures by their "
            f"ending and passed over ({ends})."
        )
    if not files:
        notes.append(f"FS3301 {site} has no usable images — it joins with weight 0.")
    same = Counter(unicodedata.normalize("NFC", name) for name in files)
    pairs = sum(count > 1 for count in same.values())
    if pairs:
        notes.append(
            f"FS3203 {site}: {pairs} file names occur twice in different Unicode "
            "spellings (NFC, NFD) — both are kept; labels.csv must spell them exactly."
        )
    return notes
