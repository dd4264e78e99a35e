"""The server's state as JSON and tensors, and back: typed, and without pickle.

A method may extend `ServerState` with numbers, text, tensors, mappings, sequences and
dataclasses of these; nothing has to be written for it here.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, TypeVar, get_args, get_type_hints

from torch import Tensor

from fedsemi.errors import StorageError

T = TypeVar("T")

_PLAIN = (bool, int, float, str, type(None))


def encode(value: Any, tensors: dict[str, Tensor], where: str = "state") -> Any:
    """Lay a value out as JSON; its tensors go to `tensors`, named by their place."""
    if isinstance(value, _PLAIN):
        return value
    if isinstance(value, Tensor):
        while where in tensors:  # keys with dots, or 1 and "1"
            where += "+"
        tensors[where] = value.detach().cpu()
        return {"tensor": where}
    if isinstance(value, Mapping):
        items = [
            [key, encode(value[key], tensors, f"{where}.{key}")]
            for key in value
            if _is_key(key, where)
        ]
        return {"mapping": items}
    if isinstance(value, tuple | list):
        parts = [encode(v, tensors, f"{where}.{i}") for i, v in enumerate(value)]
        return {type(value).__name__: parts}
    if dataclasses.is_dataclass(value):
        fields = {
            field.name: encode(
                getattr(value, field.name), tensors, f"{where}.{field.name}"
            )
            for field in dataclasses.fields(value)
        }
        return {"dataclass": type(value).__name__, "fields": fields}
    raise _cannot_keep(where, value)


def decode(tree: Any, tensors: Mapping[str, Tensor], like: T) -> T:
    """Build the value again; `like` is one of the same type.

    Only the dataclasses that the type of `like` names are ever made, so a file cannot
    choose what runs.
    """
    known = {kind.__name__: kind for kind in _dataclasses_of(type(like), set())}
    value: T = _decode(tree, tensors, known)
    if type(value) is not type(like):
        raise StorageError(
            f"the checkpoint holds a {type(value).__name__}, but this method keeps a "
            f"{type(like).__name__}; resume with the version that wrote it",
            code="FS1105",
        )
    return value


def decode_tensors(tree: Any, tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Build a mapping of tensors again, e.g. the weights."""
    weights: dict[str, Tensor] = _decode(tree, tensors, {})
    return weights


def _decode(tree: Any, tensors: Mapping[str, Tensor], known: Mapping[str, Any]) -> Any:
    if isinstance(tree, _PLAIN):
        return tree
    (kind, content), *_ = tree.items()
    if kind == "tensor":
        return tensors[content]
    if kind == "mapping":
        return {key: _decode(value, tensors, known) for key, value in content}
    if kind in ("tuple", "list"):
        parts = [_decode(part, tensors, known) for part in content]
        return tuple(parts) if kind == "tuple" else parts
    if content not in known:
        raise StorageError(
            f"the checkpoint holds a {content}, which this method does not keep; "
            "resume with the version that wrote it",
            code="FS1105",
        )
    fields = {k: _decode(v, tensors, known) for k, v in tree["fields"].items()}
    try:
        return known[content](**fields)
    except TypeError as error:
        raise StorageError(
            f"the {content} in the checkpoint does not fit ({error}); resume with the "
            "version that wrote it",
            code="FS1105",
        ) from None


def _dataclasses_of(kind: Any, seen: set[Any]) -> set[Any]:
    """Collect the dataclasses that a type is made of."""
    for part in get_args(kind):
        _dataclasses_of(part, seen)
    if isinstance(kind, type) and dataclasses.is_dataclass(kind) and kind not in seen:
        seen.add(kind)
        for part in get_type_hints(kind).values():
            _dataclasses_of(part, seen)
    return seen


def _is_key(key: object, where: str) -> bool:
    if isinstance(key, str | int) and not isinstance(key, bool):
        return True
    raise _cannot_keep(where, key)


def _cannot_keep(where: str, value: object) -> StorageError:
    return StorageError(
        f"'{where}' is a {type(value).__name__}, which a checkpoint cannot keep; use "
        "numbers, text, tensors, mappings, sequences or dataclasses of these",
        code="FS1107",
    )
