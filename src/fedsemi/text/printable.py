"""Text from outside, made fit for a terminal or a log: one line, nothing hidden."""

from __future__ import annotations

import os
import shlex
from pathlib import Path
from typing import Any

_CUT = "…"


def printable(text: str, limit: int = 300) -> str:
    r"""Return a text in which every character that a reader could not see is spelled.

    Names of files, labels and messages of sites may hold whatever their authors like:
    line breaks that forge a line of a log, sequences that command a terminal, marks
    that turn the order of letters round, bytes that are no text at all. All of these
    are written as Python would escape them. Backslashes stay as they are, so that a
    text may pass here twice.

    Args:
        text: Of anybody.
        limit: The most characters to return; a longer text ends in an ellipsis.

    >>> printable("cat\nsite 9 joined"), printable("\x1b[2J \u202egnp.exe \udcff")
    ('cat\\nsite 9 joined', '\\x1b[2J \\u202egnp.exe \\udcff')
    >>> printable("abcdef", limit=4)
    'abc…'
    """
    # Each character gives at least one, so that more than `limit` need no look.
    spelled = [_spelled(character) for character in text[: limit + 1]]
    if sum(map(len, spelled)) <= limit:
        return "".join(spelled)
    room = limit - len(_CUT)
    kept = []
    for piece in spelled:
        room -= len(piece)
        if room < 0:
            break
        kept.append(piece)
    return "".join(kept) + _CUT


def _spelled(character: str) -> str:
    if character.isprintable():
        return character
    return character.encode("unicode_escape").decode("ascii")


def visible(content: Any) -> Any:
    """Return the content of a page with all its texts, also keys, printable.

    Texts of several lines stay so, for a page decides itself where lines break; nothing
    is cut.
    """
    if isinstance(content, str):
        return "\n".join(printable(s, 10 * len(s) + 1) for s in content.split("\n"))
    if isinstance(content, dict):
        return {visible(key): visible(value) for key, value in content.items()}
    if isinstance(content, list | tuple):
        return [visible(value) for value in content]
    return content


def typed(*words: str | Path) -> str:
    r"""Return a command as a person can type it into bash, in one visible line.

    >>> typed("fedsemi", "run", "--resume", Path("my runs/a"))
    "fedsemi run --resume 'my runs/a'"
    >>> typed("fedsemi", "check", "a\nb")
    "fedsemi check $'a\\nb'"
    """
    return " ".join(_quoted(str(word)) for word in words)


def _quoted(word: str) -> str:
    if word.isprintable():
        return shlex.quote(word)
    # The shell reads escapes inside $'…'; file names are bytes to it.
    return "$'" + "".join(map(_as_byte, os.fsencode(word))) + "'"


def _as_byte(byte: int) -> str:
    character = chr(byte)
    if character in "\\'":
        return "\\" + character
    if character == "\n":
        return "\\n"
    return character if 32 <= byte < 127 else f"\\x{byte:02x}"
