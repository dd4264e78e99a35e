"""Functions and types as the source has them: their place, first words and calls."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path

Definition = ast.FunctionDef | ast.ClassDef


@dataclass(frozen=True)
class Found:
    """A function, method or class of the package."""

    name: str
    file: str
    """Below the package's folder."""
    node: Definition

    @property
    def line(self) -> int:
        """Return where it begins, without what decorates it."""
        return self.node.lineno

    @property
    def num_lines(self) -> int:
        """Count its lines."""
        assert self.node.end_lineno is not None, "a parsed node has an end"
        return self.node.end_lineno - self.node.lineno + 1

    @property
    def place(self) -> str:
        """Say where it is."""
        return f"{self.file}:{self.line}"

    @property
    def says(self) -> str:
        """Return the first line of its docstring."""
        first = (ast.get_docstring(self.node) or "").split("\n")[0]
        return first.replace("`", "")

    def calls(self, name: str) -> int | None:
        """Return the line in which it first calls something of this name."""
        every = (node for node in ast.walk(self.node) if isinstance(node, ast.Call))
        named = {"attr": ast.Attribute, "id": ast.Name}
        return min(
            (
                call.lineno
                for call in every
                for key, kind in named.items()
                if isinstance(call.func, kind) and getattr(call.func, key) == name
            ),
            default=None,
        )

    def fields(self) -> Iterator[tuple[str, str, str]]:
        """List a dataclass's fields: name, type, and what is said of them."""
        after = [*self.node.body[1:], None]
        for node, then in zip(self.node.body, after, strict=True):
            if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
                said = _text(then)
                yield node.target.id, ast.unparse(node.annotation), said


def find(source: Path, place: str) -> Found:
    """Find "file.py:Class.function" below a folder; a name that is gone is an error."""
    file, name = place.split(":")
    node: ast.AST = _parsed(source / file)
    for part in name.split("."):
        inside = ast.iter_child_nodes(node)
        found = (n for n in inside if isinstance(n, Definition) and n.name == part)
        if (inner := next(found, None)) is None:
            raise SystemExit(f"{file} has no {name}, which tools/draw/round.py draws")
        node = inner
    assert isinstance(node, Definition)
    return Found(name, file, node)


def said_of(source: Path, place: str) -> str:
    """Return what stands below an assignment "file.py:NAME"."""
    file, name = place.split(":")
    body = _parsed(source / file).body
    for node, then in pairwise(body):
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == name:
            return _text(then)
    raise SystemExit(f"{file} has no {name}, which tools/draw/round.py draws")


def _text(node: ast.AST | None) -> str:
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return " ".join(str(node.value.value).split())
    return ""


@cache
def _parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text("utf-8"))
