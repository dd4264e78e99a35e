"""The table of commands is true."""

from __future__ import annotations

import inspect

import pytest

from fedsemi.cli.commands import PANELS, Entry

ENTRIES = [
    each
    for entries in PANELS.values()
    for entry in entries
    for each in (entry, *entry.parts)
]


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
def test_the_help_of_a_command_is_the_first_line_of_its_function(entry: Entry) -> None:
    assert (inspect.getdoc(entry.function) or "").split("\n")[0] == entry.help
