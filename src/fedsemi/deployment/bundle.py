"""The bundle that a run carries: settings, and not a line of code.

Flower sends a bundle with each run and would execute what it holds. Here nothing in it
is ever executed: coordinator and sites run the fedsemi that is installed there. The
bundle is the same for all runs, byte for byte, so that any other one can be refused.
"""

from __future__ import annotations

import hashlib
import io
import shutil
import zipfile
from collections.abc import Mapping
from pathlib import Path

from fedsemi.errors import ProtocolError

SETTINGS = frozenset({"plan", "ticket"})
"""What a run is told beside its bundle: the plan, and which submission this is."""

_PROJECT = """\
[project]
name = "fedsemi-federation"
version = "2.0.0"
description = "Carries a fedsemi plan to the sites; the code is installed there."
license = "Apache-2.0"
dependencies = []

[tool.flwr.app]
publisher = "fedsemi"

[tool.flwr.app.components]
serverapp = "installed:fedsemi"
clientapp = "installed:fedsemi"

[tool.flwr.app.config]
plan = ""
ticket = ""
"""
# Where Flower unpacks bundles, and where earlier releases of fedsemi kept theirs.
_LEFTOVERS = ("apps", "app")


def make_bundle() -> bytes:
    """Make the bundle; not compressed, since zlib's output differs between builds."""
    project = _PROJECT.encode()
    digest = hashlib.sha256(project).hexdigest()
    manifest = f"pyproject.toml,{digest},{8 * len(project)}"
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        files = {"pyproject.toml": project, ".info/CONTENT": manifest.encode()}
        for name, content in files.items():
            entry = zipfile.ZipInfo(name)
            entry.create_system = 3  # or it would differ between systems
            archive.writestr(entry, content)
    return buffer.getvalue()


def check_bundle(content: bytes, config: Mapping[str, object]) -> None:
    """Refuse a run whose bundle or settings are not those of fedsemi."""
    if content != make_bundle():
        digest = hashlib.sha256(content).hexdigest()
        raise ProtocolError(
            f"a run is refused: it brought a bundle of its own ({len(content):,} "
            f"bytes, sha256 {digest[:16]}); nothing in it was executed",
            code="FS5021",
        )
    if config.keys() != SETTINGS or not all(
        isinstance(v, str) for v in config.values()
    ):
        named = ", ".join(sorted(map(str, config)))[:100]
        raise ProtocolError(
            f"a run is refused: its settings are {named or 'missing'}, not plan and "
            "ticket; nothing was executed",
            code="FS5021",
        )


def delete_bundles(home: Path) -> None:
    """Delete the bundles that earlier runs left in Flower's folder."""
    for name in _LEFTOVERS:
        shutil.rmtree(home / name, ignore_errors=True)
