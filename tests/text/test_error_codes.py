"""The table of codes is what the package raises, and the page is the table."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import fedsemi
from fedsemi import errors
from fedsemi.text.error_codes import CODES, EXITS, SECTIONS, page

PACKAGE = Path(fedsemi.__file__).parent
DOCS = PACKAGE.parents[1] / "docs"
CLASSES = {
    name: each
    for name, each in vars(errors).items()
    if isinstance(each, type) and issubclass(each, errors.FedSemiError)
}


def named_in(text: str) -> set[str]:
    return set(re.findall(r"FS\d{4}", text))


def raised_in(source: str) -> set[str]:
    """List the codes that stand in the strings of a module, docstrings left out."""
    tree = ast.parse(source)
    remarks = {
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    return {
        code
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and node not in remarks
        if isinstance(node.value, str)
        for code in named_in(node.value)
    }


def exits_in(path: Path) -> Iterator[tuple[str, int]]:
    """List codes and exit codes of the errors that a module makes."""
    # A picture that is refused is left out, or ends `fedsemi predict` as wrong data.
    picture = (
        {"Refused": errors.DataError}
        if "data" in path.relative_to(PACKAGE).parts
        else {}
    )
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            made = (CLASSES | picture).get(node.func.id)
            named = [word.value for word in node.keywords if word.arg == "code"]
            for each in [*node.args, *named] if made else ():
                for part in ast.walk(each):
                    value = getattr(part, "value", None)
                    if isinstance(value, str) and re.fullmatch(r"FS\d{4}", value):
                        yield value, made.exit_code


def test_a_code_counts_as_raised_in_a_string_but_not_in_a_docstring_or_comment():
    source = '''
    """FS0001"""  # FS0002
    raise DataError(f"FS0003 {name}", code="FS0004")
    '''
    assert raised_in(inspect.cleandoc(source)) == {"FS0003", "FS0004"}


def test_every_code_that_is_raised_is_in_the_table_and_the_other_way_round() -> None:
    raised = {
        code
        for path in PACKAGE.rglob("*.py")
        for code in raised_in(path.read_text("utf-8"))
    }
    assert raised - CODES.keys() == set(), "raised, but not in the table"
    assert CODES.keys() - raised == set(), "in the table, but raised nowhere"


def test_the_exit_codes_in_the_table_are_those_of_the_errors() -> None:
    exits = {each.default_code: {each.exit_code} for each in CLASSES.values()}
    for path in PACKAGE.rglob("*.py"):
        for code, number in exits_in(path):
            exits.setdefault(code, set()).add(number)
    table = {code.name: {code.exit} for code in CODES.values() if code.exit is not None}
    assert exits == table


def test_every_exit_code_of_an_error_has_a_meaning() -> None:
    assert EXITS.keys() == {0} | {each.exit_code for each in CLASSES.values()}


def test_no_code_stands_twice_and_each_section_is_in_order() -> None:
    listed = [[code.name for code in section.codes] for section in SECTIONS]
    assert sum(map(len, listed)) == len(CODES)
    assert all(names == sorted(names) for names in listed)


def test_only_notices_end_nothing() -> None:
    for code in CODES.values():
        notice = re.match(r"(Notice|Noted|Warning): ", code.meaning)
        assert bool(notice) == (code.exit is None), code


def test_no_text_breaks_the_table_of_the_page() -> None:
    for code in CODES.values():
        for text in (code.meaning, code.remedy):
            assert text.strip() == text != "", code
            assert "|" not in text and "\n" not in text, code


def test_the_page_is_what_make_errors_writes() -> None:
    written = (DOCS / "errors.md").read_text("utf-8")
    assert written == page(), "stale; run `make errors`"


@pytest.mark.parametrize("path", sorted(DOCS.glob("*.md")), ids=lambda path: path.name)
def test_no_page_names_a_code_that_does_not_exist(path: Path) -> None:
    assert named_in(path.read_text("utf-8")) <= CODES.keys()
