"""What the documents name is there: links, files, and names of the code."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "fedsemi"
PAGES = [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")]
EXAMPLES = {"a/b.py", "tests/a/test_b.py", "by_entropy.py"}
"""Files that only readers have."""
GLOSSARY = (ROOT / "docs" / "glossary.md").read_text("utf-8")


def _each(pattern: str, *pages: Path) -> list[object]:
    return [
        pytest.param(page, found, id=f"{page.name}:{found}")
        for page in pages
        for found in sorted(set(re.findall(pattern, page.read_text("utf-8"))))
    ]


@pytest.mark.parametrize(
    ("page", "link"), _each(r"\]\(((?!https?:|#|mailto:)[^)\s]+)\)", *PAGES)
)
def test_a_link_leads_to_a_file_and_a_heading(page: Path, link: str) -> None:
    name, _, heading = link.partition("#")
    target = page.parent / name
    assert target.exists()
    if heading:
        assert heading in set(_headings(target))


@pytest.mark.parametrize(("page", "name"), _each(r"`([\w/]+\.py)`", *PAGES))
def test_a_python_file_that_a_page_names_is_there(page: Path, name: str) -> None:
    """It may be named from the root, within the package or within the tests."""
    if page.name == "CHANGELOG.md":
        pytest.skip("a changelog names what was")
    assert name in EXAMPLES or _paths(name)


@pytest.mark.parametrize(
    ("page", "name"),
    _each(r"`((?:\w+\.)+\w+)`", ROOT / "docs" / "paper-to-code.md"),
)
def test_a_name_of_the_papers_parts_is_in_the_code(page: Path, name: str) -> None:
    if name == "partition.file":  # a setting
        return
    if not name.endswith((".jsonl", ".toml")):
        assert _resolved(name.split("."), PACKAGE)


@pytest.mark.parametrize(
    "name", sorted(set(re.findall(r"`([A-Za-z_]\w*(?:\.\w+)?)`", GLOSSARY)))
)
def test_a_name_of_the_glossary_is_in_the_package(name: str) -> None:
    if name.endswith(".jsonl"):  # of a run's folder
        return
    names = _rooms() | _names()
    assert all(part in names for part in name.split(".")) or _paths(name)


@pytest.mark.parametrize(
    "line", [line for line in GLOSSARY.splitlines() if line.endswith("` |")]
)
def test_what_the_glossary_places_in_a_file_is_there(line: str) -> None:
    """Some name of the row stands in some file of its last column."""
    cells = [cell for cell in line.split("|") if cell.strip()]
    wanted = re.findall(r"`([A-Za-z_]\w*(?:\.\w+)?)`", "".join(cells[:-1]))
    places = [PACKAGE / name for name in re.findall(r"`([\w/.]+)`", cells[-1])]
    assert all(place.exists() for place in places)
    text = " ".join(
        f"{file.stem} {file.read_text('utf-8')}"
        for place in places
        for file in ([place] if place.is_file() else sorted(place.glob("*.py")))
    )
    missing = [n for n in wanted if not re.search(rf"\b{n.split('.')[-1]}\b", text)]
    assert not missing


def _headings(page: Path) -> Iterator[str]:
    for title in re.findall(r"^#+ (.+)$", page.read_text("utf-8"), re.M):
        plain = re.sub(r"[^\w\- ]", "", title.lower())
        yield plain.replace(" ", "-")


def _paths(name: str) -> list[Path]:
    near = [base / name for base in (ROOT, PACKAGE, ROOT / "tests")]
    found = [path for path in near if path.exists()]
    return found or list((ROOT / "tests").rglob(name)) or list(PACKAGE.rglob(name))


def _resolved(parts: list[str], folder: Path) -> bool:
    """Follow packages, then a module, then classes and functions."""
    first, *rest = parts
    if (folder / first).is_dir():
        return not rest or _resolved(rest, folder / first)
    module = folder / f"{first}.py"
    if not module.exists():
        return False
    node: ast.AST = ast.parse(module.read_text("utf-8"))
    for part in rest:
        inside = {getattr(n, "name", None): n for n in ast.iter_child_nodes(node)}
        if part not in inside:
            return False
        node = inside[part]
    return True


def _rooms() -> set[str]:
    return {path.name for path in PACKAGE.iterdir() if path.is_dir()}


@cache
def _names() -> frozenset[str]:
    """Return all names in the package: of modules, things, arguments and fields."""
    found = set[str]()
    for path in PACKAGE.rglob("*.py"):
        found.add(path.stem)
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            for key in ("name", "id", "arg", "attr"):
                found.add(str(getattr(node, key, "")))
    return frozenset(found)
