"""Every setting in words: where it is written, its type, its default, its meaning.

All of it is read from the classes that check a config, so that no list can go stale.
"""

from __future__ import annotations

import ast
import dataclasses
import inspect
import re
import textwrap
import types
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

import annotated_types
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from fedsemi.client.learners import LEARNERS
from fedsemi.config.experiment import Experiment, Stage
from fedsemi.config.membership import Member
from fedsemi.method import Method

_WORDS = {
    bool: "true or false",
    int: "whole number",
    float: "number",
    str: "text",
    dict: "table",
}
_BOUNDS = (
    (annotated_types.Ge, "ge", "{} or more"),
    (annotated_types.Gt, "gt", "above {}"),
    (annotated_types.Le, "le", "at most {}"),
    (annotated_types.Lt, "lt", "below {}"),
)


@dataclass(frozen=True)
class Described:
    """One setting."""

    path: str
    """As in `--set`: section.key, or key alone for a method's own."""
    kind: str
    default: str
    meaning: str

    def fits(self, word: str) -> bool:
        """Tell whether somebody who says `word` may mean this setting.

        It is a part of its name, or the paper's symbol, which stands in its meaning.

        >>> Described("partition.num_clients", "", "", "K.").fits("K")
        True
        >>> Described("local.lr_labeled", "", "", "Learning rate.").fits("lr")
        True
        """
        key = self.path.split(".")[-1]
        symbols = re.findall(r"\b[A-Z]\b", self.meaning)
        return word == key or word in key.split("_") or word in symbols


def sections() -> Iterator[tuple[str, list[Described]]]:
    """Yield all sections of a config with their settings, the top level first."""
    nested: list[tuple[str, Any]] = []
    top: list[Described] = []
    for setting, kind in _settings(Experiment):
        if setting.path in ("membership", "stages"):
            continue
        if kind is None:
            top.append(setting)
        else:
            nested.append((setting.path, kind))
    yield "", top
    for name, kind in nested:
        yield name, list(_flat(kind, name))
    yield "membership", [each for each, _ in _settings(Member, "membership.N")]
    yield "stages", [each for each, _ in _settings(Stage, "stages.N")]


def meant(word: str) -> list[str]:
    """Name the settings, wherever they are, that somebody may mean by a word."""
    return [s.path for _, found in sections() for s in found if s.fits(word)]


def fields_in(kind: type[Any]) -> list[Described]:
    """Describe the settings of a class that is no part of a config."""
    return list(_flat(kind, ""))


def method_settings_of(method: type[Method[Any]]) -> list[Described]:
    """Describe a method's own settings, those of [[stages]]."""
    names = {field.name for field in method.settings()}
    return [each for each, _ in _settings(method) if each.path in names]


def learner_settings() -> Iterator[tuple[str, list[Described]]]:
    """Yield all local learners by name, with the settings of `learner`."""
    for name, learner in LEARNERS.own.items():
        own = [each for each, _ in _settings(learner, "learner")]
        yield name, [each for each in own if each.path != "learner.name"]


def _flat(kind: Any, prefix: str) -> Iterator[Described]:
    for setting, inner in _settings(kind, prefix):
        if inner is None:
            yield setting
        else:
            yield from _flat(inner, setting.path)


def _settings(kind: Any, prefix: str = "") -> Iterator[tuple[Described, Any]]:
    """Yield the settings of a class, each with its own class if it is a section."""
    hints, meanings = get_type_hints(kind, include_extras=True), _docstrings(kind)
    for name, default in _defaults(kind):
        path = f"{prefix}.{name}" if prefix else name
        words = _kind(hints[name])
        yield (
            Described(path, words, default, meanings.get(name, "")),
            _section(hints[name]),
        )


def _defaults(kind: Any) -> Iterator[tuple[str, str]]:
    if issubclass(kind, BaseModel):
        for name, info in kind.model_fields.items():
            required = info.is_required()
            value = None if required else info.get_default(call_default_factory=True)
            yield name, "required" if required else _written(value)
        return
    for field in dataclasses.fields(kind):
        if field.default_factory is not dataclasses.MISSING:
            yield field.name, _written(field.default_factory())
        elif field.default is dataclasses.MISSING:
            yield field.name, "required"
        else:
            yield field.name, _written(field.default)


def _written(value: Any) -> str:
    """Write a default as in TOML."""
    if value is None:
        return "left out"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return f'"{value}"'
    if isinstance(value, float | int):
        return f"{value:g}" if isinstance(value, float) else str(value)
    if dataclasses.is_dataclass(value) or isinstance(value, BaseModel):
        return str(getattr(value, "name", "see below"))
    return str(value)


def _kind(hint: Any) -> str:
    """Say in words what a setting may be.

    >>> from fedsemi.settings import Count, Share
    >>> _kind(Count), _kind(Share), _kind(Literal["a", "b"] | None)
    ('whole number, 1 or more', 'number, 0 or more, at most 1', '"a" or "b"')
    """
    if get_origin(hint) is Annotated:
        inner, *notes = get_args(hint)
        return ", ".join([_kind(inner), *_bounds(notes)])
    if get_origin(hint) is Literal:
        return " or ".join(f'"{each}"' for each in get_args(hint))
    if get_origin(hint) in (Union, types.UnionType):
        parts = [part for part in get_args(hint) if part is not type(None)]
        return " or ".join(dict.fromkeys(_kind(part) for part in parts))
    if get_origin(hint) in (list, tuple):
        return f"list of {_kind(get_args(hint)[0])}"
    if _section(hint) is not None or (inspect.isclass(hint) and hint not in _WORDS):
        return "table"
    return _WORDS.get(get_origin(hint) or hint, "text")


def _bounds(notes: list[Any]) -> Iterator[str]:
    flat = [
        each
        for note in notes
        for each in (note.metadata if isinstance(note, FieldInfo) else [note])
    ]
    for note in flat:
        for kind, name, words in _BOUNDS:
            if isinstance(note, kind):
                yield words.format(f"{getattr(note, name):g}")


def _section(hint: Any) -> Any:
    """Return the class behind a table of settings, None for a single value."""
    parts = [part for part in get_args(hint) or (hint,) if part is not type(None)]
    (only, *others) = parts
    plain = inspect.isclass(only) and not others
    known = plain and (dataclasses.is_dataclass(only) or issubclass(only, BaseModel))
    return only if known else None


@cache
def _docstrings(kind: type) -> dict[str, str]:
    """Read the sentence below each field, those of base classes included."""
    found: dict[str, str] = {}
    for each in reversed(kind.__mro__):
        try:
            source = textwrap.dedent(inspect.getsource(each))
        except (OSError, TypeError):
            continue
        body = ast.parse(source).body[0]
        lines = body.body if isinstance(body, ast.ClassDef) else []
        for field, said in pairwise(lines):
            if not (isinstance(field, ast.AnnAssign) and isinstance(said, ast.Expr)):
                continue
            if isinstance(field.target, ast.Name) and isinstance(
                said.value, ast.Constant
            ):
                text = inspect.cleandoc(str(said.value.value))
                found[field.target.id] = " ".join(text.split())
    return found
