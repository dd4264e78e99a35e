"""The file that a site's policy begins with: every rule, explained, as by default."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from fedsemi.config.described import fields_in
from fedsemi.deployment.site.policy import POLICY, Rules, rule_values
from fedsemi.errors import CannotCreate
from fedsemi.storage import write_whole

_WIDTH = 84
_HEAD = """\
What this site answers, whoever asks. It is read anew for every message; a mistake in
it stops all answers. `fedsemi site policy FOLDER` checks it, and `fedsemi site policy
FOLDER plan.json` tells which line a plan breaks. Methods and statistics are written
out, so that a later release adds none."""
_TITLES = {
    "answers": "Rules without exception.",
    "budget": "What is given away in all runs together; kept in privacy-ledger.jsonl.",
    "bounds": "Bounds; for one plan the owner may go beyond them by hand, with "
    "`fedsemi agree FOLDER plan.json --beyond-bounds`.",
}


def write_start(folder: Path) -> Path:
    """Write a commented policy that says what holds without one."""
    path = folder / POLICY
    if not folder.is_dir():
        raise CannotCreate(
            f"there is no folder '{folder}'; make it with `fedsemi pack`", "FS1200"
        )
    write_whole(path, start_text().encode(), private=True)
    return path


def start_text() -> str:
    """Lay the defaults out as TOML with a comment for each."""
    lines = [*_comment(_HEAD)]
    meanings = {each.path: each.meaning for each in fields_in(Rules)}
    section = ""
    for rule, value in rule_values(Rules()):
        title, key = rule.split(".")
        if title != section:
            section = title
            lines += ["", *_comment(_TITLES[title]), f"[{title}]"]
        lines += ["", *_comment(meanings[rule])]
        # What is left out by default has no value to write.
        lines.append(f"# {key} = 8.0" if value is None else f"{key} = {toml(value)}")
    return "\n".join(lines) + "\n"


def _comment(text: str) -> Iterator[str]:
    for line in textwrap.wrap(" ".join(text.split()), _WIDTH):
        yield f"# {line}"


def toml(value: Any) -> str:
    """Write a rule's value as TOML; a list of names takes a line for each."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return f'"{value}"'
    if isinstance(value, list) and value:
        return "[\n" + "".join(f"    {toml(each)},\n" for each in value) + "]"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(toml, value))}]"
    return str(value)
