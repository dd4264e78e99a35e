"""Tag a release: `v` and the version, on a commit that says it everywhere.

`make tag` runs it. Nothing is tagged if the changelog lacks the version, a file is not
committed, or the tag exists.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
VERSION = re.compile(r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(rc[1-9]\d*)?")


def version(root: Path = ROOT) -> str:
    """Read the one source of the version."""
    text = (root / "pyproject.toml").read_text("utf-8")
    found: str = tomllib.loads(text)["project"]["version"]
    return found


def releases(changelog: str) -> list[tuple[str, str]]:
    """List version and date of each release in a changelog, newest first."""
    return re.findall(r"^## \[(\d[^\]]*)\] - (\S+)$", changelog, re.M)


def faults(root: Path = ROOT) -> list[str]:
    """Say what speaks against a tag of the files in a folder."""
    wanted, found = version(root), []
    if not VERSION.fullmatch(wanted):
        found.append(f"pyproject.toml: '{wanted}' is not MAJOR.MINOR.PATCH or …rcN")
    listed = releases((root / "CHANGELOG.md").read_text("utf-8"))
    if not listed or listed[0][0] != wanted:
        newest = listed[0][0] if listed else "none"
        found.append(f"CHANGELOG.md: the newest release is {newest}, not {wanted}")
    if f"\nversion: {wanted}\n" not in (root / "CITATION.cff").read_text("utf-8"):
        found.append(f"CITATION.cff: its version is not {wanted}")
    return found


def main() -> int:
    """Make the tag, or say in lines why not."""
    found = faults()
    if _git("status", "--porcelain"):
        found.append("some files are not committed")
    tag = f"v{version()}"
    if _git("tag", "--list", tag):
        found.append(f"the tag {tag} exists; a release is never moved")
    if found:
        print("\n".join(found), file=sys.stderr)
        return 1
    _git("tag", "--annotate", tag, "--message", f"fedsemi {version()}")
    print(f"{tag}; publish it with: git push origin {tag}")
    return 0


def _git(*words: str) -> str:
    done = subprocess.run(
        ["git", *words], cwd=ROOT, check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


if __name__ == "__main__":
    sys.exit(main())
