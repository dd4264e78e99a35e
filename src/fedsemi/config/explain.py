"""Errors in a config, each in one line: what is wrong, where, and what was meant."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterable, Sequence
from typing import Any, get_args, get_type_hints

from pydantic import ValidationError

from fedsemi.errors import ConfigError, nearest


def known(where: str, name: str, names: Collection[str], *more: str) -> None:
    """Refuse a name that is not among the known ones, and suggest the nearest.

    A registry knows names from outside as well; what is behind one is told when it is
    looked up.
    """
    if name not in names and name not in more:
        raise ConfigError(
            f"{where}: there is no '{name}'{nearest(name, [*names, *more])}; "
            f"known are {', '.join(sorted([*names, *more]))}",
            code="FS4104",
        )


def unknown_key(where: str, known: Sequence[str]) -> ConfigError:
    """Refuse a key, and suggest the nearest known one."""
    key = where.rsplit(".", 1)[-1]
    if key == where and (places := _elsewhere(key)):
        return ConfigError(
            f"unknown key '{key}'; did you mean {' or '.join(places)}? `fedsemi "
            f"settings {key}` says more",
            code="FS4101",
        )
    return ConfigError(
        f"unknown key '{where}'{nearest(key, known)}; known are "
        f"{', '.join(sorted(known))}",
        code="FS4101",
    )


def _elsewhere(key: str) -> list[str]:
    """Find a key that was written without its section."""
    # It describes the classes that are checked here, so it comes after them.
    from fedsemi.config.described import meant

    return meant(key)


def explained(
    error: ValidationError, model: type[Any], prefix: str, more_keys: Iterable[str]
) -> ConfigError:
    """Say in one line what is wrong with the first bad setting.

    Args:
        error: What pydantic found.
        model: The settings that it looked at.
        prefix: Where these settings lie in the config.
        more_keys: Keys that are known at their top level beside the model's own.
    """
    first = error.errors()[0]
    inner = first["loc"][:-1]
    path, keys = _keys_at(model, inner)
    where = ".".join(
        str(part) for part in (prefix, *path, *first["loc"][-1:]) if part != ""
    )
    if first["type"] in ("extra_forbidden", "unexpected_keyword_argument"):
        if not inner:
            keys += [key for key in more_keys if key not in keys]
        return unknown_key(where, keys)
    if first["type"] == "missing":
        return ConfigError(f"'{where}' is missing", code="FS4105")
    if first["type"] == "union_tag_invalid":
        tags = [tag.strip(" '") for tag in first["ctx"]["expected_tags"].split(",")]
        name = first["ctx"]["tag"]
        return ConfigError(
            f"{where}.name: there is no '{name}'{nearest(name, tags)}; "
            f"known are {', '.join(sorted(tags))}",
            code="FS4104",
        )
    return ConfigError(
        f"'{where}' is {first['input']!r}: {first['msg']}", code="FS4102"
    )


def _keys_at(
    model: type[Any], location: Sequence[int | str]
) -> tuple[list[int | str], list[str]]:
    """Find a place in the settings: its path as the user wrote it, and its keys."""
    hints = get_type_hints(model)
    if location and (inner := hints.get(str(location[0]))) is not None:
        step, rest = location[:1], location[1:]
        inner = _without_none(inner)
        if rest and (named := _named(inner, rest[0])):
            inner, rest = named, rest[1:]  # pydantic adds the name of the variant
        if hasattr(inner, "model_fields") or dataclasses.is_dataclass(inner):
            path, keys = _keys_at(inner, rest)
            return [*step, *path], keys
    if dataclasses.is_dataclass(model):  # whose hints name class variables, too
        return list(location), [field.name for field in dataclasses.fields(model)]
    return list(location), list(getattr(model, "model_fields", hints))


def _without_none(hint: Any) -> Any:
    """Return what an optional setting is when it is given."""
    kinds = [kind for kind in get_args(hint) if kind is not type(None)]
    return kinds[0] if len(kinds) == 1 and type(None) in get_args(hint) else hint


def _named(union: Any, name: int | str) -> type[Any] | None:
    """Return the member of a union whose field `name` may have this value."""
    for member in get_args(union):
        if dataclasses.is_dataclass(member) and isinstance(member, type):
            hint = get_type_hints(member).get("name")
            if name in get_args(hint):
                return member
    return None
