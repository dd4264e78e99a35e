"""The page of errors is complete and true."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from fedsemi import errors

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "fedsemi"
PAGE = ROOT / "docs" / "errors.md"
CLASSES = {
    name: each
    for name, each in vars(errors).items()
    if isinstance(each, type) and issubclass(each, errors.FedSemiError)
}


def codes(text: str) -> set[str]:
    return set(re.findall(r"FS\d{4}", text))


def test_every_code_in_the_source_is_on_the_page_and_the_other_way_round() -> None:
    source = "\n".join(p.read_text("utf-8") for p in PACKAGE.rglob("*.py"))
    assert codes(source) == codes(PAGE.read_text("utf-8"))


def raised_in(path: Path) -> Iterator[tuple[str, int]]:
    """List codes and exit codes of the errors that a module makes."""
    # A picture that is refused is left out, or ends `fedsemi predict` as wrong data.
    picture = {"Refused": errors.DataError} if "data" in path.parts else {}
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            made = (CLASSES | picture).get(node.func.id)
            named = [word.value for word in node.keywords if word.arg == "code"]
            for each in [*node.args, *named] if made else ():
                for part in ast.walk(each):
                    value = getattr(part, "value", None)
                    if isinstance(value, str) and re.fullmatch(r"FS\d{4}", value):
                        yield value, made.exit_code


def test_the_exit_codes_on_the_page_are_those_of_the_errors() -> None:
    exits = {each.default_code: {each.exit_code} for each in CLASSES.values()}
    for path in PACKAGE.rglob("*.py"):
        for code, number in raised_in(path):
            exits.setdefault(code, set()).add(number)
    rows = re.findall(r"^\| (FS\d{4}) \| (\d+|–) \|", PAGE.read_text("utf-8"), re.M)
    page = {code: {int(number)} for code, number in rows if number != "–"}
    assert exits == page
    assert len(rows) == len(codes(PAGE.read_text("utf-8")))
