"""Every FS code: what it means, how the command then ends, what to do.

The codes stand in error_codes.toml, from which `make errors` writes docs/errors.md.
"""

from __future__ import annotations

import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Code:
    """One case that a user can meet."""

    name: str
    exit: int | None
    """The exit code of the command; none, if the line is a notice and work goes on."""
    meaning: str
    remedy: str


@dataclass(frozen=True)
class Section:
    """Codes that belong together."""

    title: str
    remark: str
    codes: tuple[Code, ...]


_TABLE = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))

EXITS: dict[int, str] = {int(key): text for key, text in _TABLE["exits"].items()}

SECTIONS = tuple(
    Section(
        part["title"],
        part["remark"],
        tuple(
            Code(name, exit or None, meaning, remedy)
            for name, (exit, meaning, remedy) in part["codes"].items()
        ),
    )
    for part in _TABLE["sections"]
)

CODES = {code.name: code for section in SECTIONS for code in section.codes}


def page() -> str:
    """Return the text of docs/errors.md."""
    lines = [
        "# Errors",
        "",
        "Every error is one line: a code, what happened and where, and what to do. "
        "`fedsemi --debug COMMAND` adds the traceback.",
        "",
        "| Exit code | Meaning |",
        "|---|---|",
        *(f"| {number} | {meaning} |" for number, meaning in EXITS.items()),
    ]
    for section in SECTIONS:
        lines += ["", f"## {section.title}"]
        lines += ["", section.remark] if section.remark else []
        lines += ["", "| Code | Exit | Meaning | What to do |", "|---|---|---|---|"]
        lines += [_row(code) for code in section.codes]
    return "\n".join(lines) + "\n"


def _row(code: Code) -> str:
    exit = "–" if code.exit is None else code.exit
    return f"| {code.name} | {exit} | {code.meaning} | {code.remedy} |"


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(page(), "utf-8")
