"""What lies in the folder of a site: pictures, what is none, and what was changed."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from os import cpu_count
from pathlib import Path

from fedsemi.data.checksums import MANIFEST, Entry, differs, read_manifest
from fedsemi.data.decode import is_image
from fedsemi.data.folder_labels import LABELS_FILE
from fedsemi.data.label_table import LeftOut
from fedsemi.data.safe_files import Refused, read_regular, walk
from fedsemi.data.site_settings import SitesSettings


def listed(folder: Path, site: str) -> tuple[list[str], list[LeftOut]]:
    """Name the pictures of a site, and what stands where one should be."""
    files, left_out = [], []
    for name, regular in walk(folder):
        if is_image(name) and regular:
            files.append(name)
        elif not regular and (folder / name).is_dir():
            reason = "is a link to a folder; what is behind it is not read"
            left_out.append(LeftOut(site, name, "FS3102", reason))
        elif is_image(name):
            reason = "is not a regular file (a link, pipe or device)"
            left_out.append(LeftOut(site, name, "FS3102", reason))
    return files, left_out


def passed_over(folder: Path) -> Counter[str]:
    """Count the files that do not claim to be pictures, by their endings."""
    other = (name for name, regular in walk(folder) if regular and not is_image(name))
    names = (name.rsplit("/", 1)[-1] for name in other)
    return Counter(
        f".{name.rsplit('.', 1)[-1].lower()}" if "." in name else "no ending"
        for name in names
        if name not in (LABELS_FILE, MANIFEST)
    )


def hashed(
    folder: Path, files: Sequence[str]
) -> tuple[dict[str, Entry], dict[str, tuple[str, str]]]:
    """Return size and SHA-256 of each file, or code and reason why not."""

    def one(name: str) -> Entry | tuple[str, str]:
        try:
            content = read_regular(folder, name)
        except Refused as error:
            return error.code, str(error)
        return Entry(len(content), hashlib.sha256(content).hexdigest())

    with ThreadPoolExecutor(cpu_count()) as pool:
        found = dict(zip(files, pool.map(one, files), strict=True))
    entries = {name: it for name, it in found.items() if isinstance(it, Entry)}
    refused = {name: it for name, it in found.items() if not isinstance(it, Entry)}
    return entries, refused


def unverified(
    folder: Path, entries: dict[str, Entry], settings: SitesSettings
) -> dict[str, tuple[str, str]]:
    """Return the files that are not as in the manifest, with code and reason."""
    known = read_manifest(folder)
    faults = {
        name: differs(known, name, found, settings.verify == "full")
        for name, found in entries.items()
    }
    missing = {name: "is missing" for name in known if name not in entries}
    return {name: ("FS3101", why) for name, why in (faults | missing).items() if why}
