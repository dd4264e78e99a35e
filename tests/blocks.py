"""The fenced blocks of a page, with what the comment above each says of running it.

    <!-- run: slow -->                       only by `make test-docs`
    <!-- run: skip, it installs packages --> not at all, for the reason given
    <!-- run: "rounds=1" for "rounds=40" --> with other words, to be over soon
    <!-- run: ends with 65 -->               a refusal is what the page shows

Several are joined by semicolons. Without a comment a block is run as it stands. A block
whose first line is a comment with a file's name is that file.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
SHELL = ("console", "bash")
RUN = (*SHELL, "python")
SHOWN = ("toml", "text", "nginx", "json", "csv")
"""Languages of blocks that nobody types."""

_FENCE = re.compile(
    r"^(?:<!-- run: (?P<how>.+?) -->\n+)?```(?P<language>\w*)\n(?P<text>.*?)^```$",
    re.M | re.S,
)
_FILE = re.compile(r"# (\S+\.(?:py|toml))\n")
_INSTEAD = re.compile(r'"([^"]*)" for "([^"]+)"')
_HOW = re.compile(rf"slow|skip, .{{8,}}|ends with \d+|{_INSTEAD.pattern}")


@dataclass(frozen=True)
class Block:
    """One block, where it stands, and how it is run."""

    page: Path
    line: int
    """Of its first line of text, counted from one."""
    language: str
    text: str
    how: tuple[str, ...] = ()

    @property
    def place(self) -> str:
        """Where to look when it fails."""
        return f"{self.page.relative_to(ROOT)}:{self.line}"

    @property
    def file(self) -> str | None:
        """The name of the file that it is, if it is one."""
        found = _FILE.match(self.text)
        return found[1] if found else None

    @property
    def slow(self) -> bool:
        """Whether it takes long."""
        return "slow" in self.how

    @property
    def skipped(self) -> str | None:
        """The reason why it is not run, if it is not."""
        reasons = [each[6:] for each in self.how if each.startswith("skip, ")]
        return reasons[0] if reasons else None

    @property
    def ends_with(self) -> int:
        """The exit code of its last command."""
        codes = [int(each[10:]) for each in self.how if each.startswith("ends with ")]
        return codes[0] if codes else 0

    def typed(self) -> str:
        """Return the text that is run: no prompts, no outputs, other words put in."""
        text = self.text
        if self.language in SHELL and re.search(r"^\$ ", text, re.M):
            joined = text.replace("\\\n", " ")
            lines = [s[2:] for s in joined.splitlines() if s.startswith("$ ")]
            text = "\n".join(lines) + "\n"
        for how in self.how:
            if found := _INSTEAD.fullmatch(how):
                new, old = found.groups()
                assert old in text, f"{self.place}: no {old!r} to put {new!r} for"
                text = text.replace(old, new)
        return text


def blocks_of(page: Path) -> list[Block]:
    """Return the blocks of a page in their order."""
    text = page.read_text("utf-8")
    found = []
    for match in _FENCE.finditer(text):
        line = text.count("\n", 0, match.start("text")) + 1
        how = tuple(re.split(r";\s+", match["how"] or "")) if match["how"] else ()
        block = Block(page, line, match["language"], match["text"], how)
        wrong = [each for each in how if not _HOW.fullmatch(each)]
        assert not wrong, f"{block.place}: cannot read {wrong}"
        found.append(block)
    return found


def commands(script: str) -> Iterator[list[str]]:
    """Yield the words of each command of a script, one of a pipe after the other.

    >>> list(commands("a --b 'c d' | e  # f\\nG=1 h && i"))
    [['a', '--b', 'c d'], ['e'], ['h'], ['i']]
    """
    for line in script.replace("\\\n", " ").splitlines():
        lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
        lexer.whitespace_split = True
        words: list[str] = []
        for word in [*lexer, ";"]:
            if word and set(word) <= set("|&;()"):
                if words:
                    yield words
                words = []
            elif words or not re.match(r"[A-Z_]+=", word):
                words.append(word)
