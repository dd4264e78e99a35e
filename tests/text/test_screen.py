"""A name may go into any line: it cannot command the terminal."""

from __future__ import annotations

from io import StringIO

import pytest
from rich.table import Table
from rich.text import Text

from fedsemi.text.screen import LINE, Screen, say, tell


def shown(*what: object, width: int = 80) -> str:
    console = Screen(file=StringIO(), width=width)
    console.print(*what)
    assert isinstance(console.file, StringIO)
    return console.file.getvalue()


def test_brackets_and_colons_are_shown_as_they_stand() -> None:
    assert shown("[bold]a[/bold] :smile:") == "[bold]a[/bold] :smile:\n"


def test_what_commands_a_terminal_or_breaks_the_line_is_spelled() -> None:
    assert shown("a\nb\x1b[2J") == "a\\nb\\x1b[2J\n"
    table = Table("x", box=None)
    table.add_row("c\nd")
    assert "c\\nd" in shown(table)


def test_a_text_may_break_its_line_on_purpose() -> None:
    assert shown(Text("a\nb")) == "a\nb\n"


def test_a_line_that_goes_on_and_on_is_cut() -> None:
    assert len(shown("x" * 3 * LINE, width=4 * LINE)) <= LINE + 1


@pytest.mark.parametrize("err", [False, True])
def test_a_said_line_is_one_line_on_the_stream_that_was_chosen(
    err: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    say("one\ntwo", err=err)
    told = capsys.readouterr()
    assert (told.err if err else told.out) == "one\\ntwo\n"
    assert (told.out if err else told.err) == ""


@pytest.mark.parametrize(
    ("terminal", "line", "broken"),
    [
        (True, "two words", True),
        (True, "`two words`", False),
        (False, "two words", False),
    ],
)
def test_a_terminal_breaks_long_lines_between_words_but_no_command(
    terminal: bool, line: str, broken: bool
) -> None:
    options = {"force_terminal": terminal, "color_system": None}
    console = Screen(file=StringIO(), width=6, **options)
    tell(console, line)
    assert isinstance(console.file, StringIO)
    assert (console.file.getvalue().strip() != line) == broken
