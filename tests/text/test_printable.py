"""Text from outside is shown as one line in which nothing hides."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedsemi.text.printable import printable, visible

ANY = st.text(st.characters(), max_size=400)
"""Lone surrogates included."""


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Naevus, größer als 5 mm 😀", "Naevus, größer als 5 mm 😀"),
        ("a\nsite 9 joined", r"a\nsite 9 joined"),
        ("a\r\tb\x00\x7f", r"a\r\tb\x00\x7f"),
        ("\x1b[2J\x1b]0;title\x07", r"\x1b[2J\x1b]0;title\x07"),
        ("\x9b2J", r"\x9b2J"),  # the same command in one character
        ("cat\u202egnp.exe\u2066", r"cat\u202egnp.exe\u2066"),
        ("a\u2028b\u200bc\xa0d", r"a\u2028b\u200bc\xa0d"),
        ("caf\udce9", r"caf\udce9"),  # Latin-1 in a file name
        ("\U000e0041", r"\U000e0041"),  # a letter that no screen shows
        (r"C:\new", r"C:\new"),
    ],
)
def test_what_cannot_be_seen_is_spelled(text: str, shown: str) -> None:
    assert printable(text) == shown


@given(ANY)
def test_the_result_is_one_visible_line_that_can_be_written(text: str) -> None:
    shown = printable(text)
    assert shown.isprintable()
    assert shown.encode("utf-8").decode("utf-8") == shown
    assert not any(unicodedata.category(c) in ("Cc", "Cf", "Cs") for c in shown)


@given(ANY, st.integers(1, 50))
def test_the_result_is_never_longer_than_the_limit(text: str, limit: int) -> None:
    assert len(printable(text, limit)) <= limit


@given(ANY)
def test_twice_is_once(text: str) -> None:
    assert printable(printable(text)) == printable(text)


def test_an_escape_is_not_cut_in_two() -> None:
    assert printable("ab\x1b\x1b", limit=8) == "ab\\x1b…"
    assert printable("ab\x1b\x1b", limit=10) == r"ab\x1b\x1b"
    assert printable("ab\x1b\x1b", limit=6) == "ab…"


def test_text_at_the_limit_is_whole() -> None:
    assert printable("x" * 300) == "x" * 300
    assert printable("x" * 301) == "x" * 299 + "…"


def test_all_texts_of_a_page_are_made_visible_and_none_is_cut() -> None:
    long = "x" * 20_000
    page = {"a\x1b": [("b\u202e", 1.5), None], "long": long, "lines": "one\ntwo\x07"}
    assert visible(page) == {
        "a\\x1b": [["b\\u202e", 1.5], None],
        "long": long,
        "lines": "one\ntwo\\x07",
    }
