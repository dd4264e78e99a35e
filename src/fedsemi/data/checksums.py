"""A site's manifest: the size and SHA-256 of every image, to notice silent damage.

Most flipped bits of a JPEG decode to other pixels without a word, so a checksum is the
only way to notice them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from fedsemi.data.safe_files import Refused, inside, read_regular
from fedsemi.errors import DataError
from fedsemi.storage import write_whole
from fedsemi.text.json_text import parsed
from fedsemi.text.printable import typed

MANIFEST = "fedsemi-manifest.json"
_FORMAT = "fedsemi-manifest-1"


@dataclass(frozen=True)
class Entry:
    """Size in bytes and SHA-256 of one file."""

    size: int
    sha256: str


def write_manifest(folder: Path, entries: Mapping[str, Entry]) -> Path:
    """Write the manifest into the site's folder."""
    files = {name: [entry.size, entry.sha256] for name, entry in entries.items()}
    content = json.dumps({"format": _FORMAT, "files": files}, indent=0) + "\n"
    write_whole(folder / MANIFEST, content.encode())
    return folder / MANIFEST


def read_manifest(folder: Path) -> dict[str, Entry]:
    """Read the manifest of a site."""
    try:
        content = parsed(read_regular(folder, MANIFEST))
        if content["format"] != _FORMAT:
            raise ValueError(f"its format is {content['format']!r}")
        return {
            inside(name, MANIFEST): Entry(int(size), str(sha256))
            for name, (size, sha256) in content["files"].items()
        }
    except Refused as error:
        raise DataError(
            f"{folder.name}: {MANIFEST} {error}, but sites.verify asks for it; run "
            f"`{_again(folder)}`, or set verify = 'off'",
            code="FS3105",
        ) from None
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise DataError(
            f"{folder.name}: {MANIFEST} is damaged ({error}); write it again with "
            f"`{_again(folder)}`",
            code="FS3105",
        ) from None


def differs(known: Mapping[str, Entry], name: str, found: Entry, full: bool) -> str:
    """Say how a file differs from the manifest, or nothing."""
    if name not in known:
        return "is not in the manifest"
    if known[name].size != found.size:
        return f"has {found.size} bytes, the manifest says {known[name].size}"
    if full and known[name].sha256 != found.sha256:
        return "sha256 differs"
    return ""


def _again(folder: Path) -> str:
    return typed("fedsemi", "check", folder, "--write-manifest")
