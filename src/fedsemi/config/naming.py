"""Names of experiments: a hash of what was decided, not of everything there is.

Only settings that differ from the defaults of a named schema count. A release that adds
a setting, whose default does what was done before, leaves every name as it is; so does
one that changes a default, if the old one is noted in `SCHEMA_DEFAULTS`.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel

SCHEMA = "fedsemi-experiment-1"
SCHEMA_DEFAULTS: Mapping[tuple[str, str], Any] = {
    ("GuardSettings", "enabled"): True,
    # As many as on clients; now the server has a number of its own.
    ("orchestra settings", "server_sinkhorn_iterations"): 10,
    # 20 was called what is 19 now that rounds are counted from 0.
    ("fedirm settings", "unlabeled_after"): 19,
    ("isofed settings", "pretrain_epochs"): 1,
}
"""Defaults of the schema that are other ones today, by class and field.

A new setting whose default is not what was done before belongs here as well.
"""

_NONE = object()


def sha256_of(settings: Any) -> str:
    """Name settings by what differs from the schema's defaults."""
    content = {"schema": SCHEMA, "settings": differing(settings)}
    text = json.dumps(content, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def differing(value: Any) -> Any:
    """Write a value as JSON, without the settings in it that are at their defaults."""
    if isinstance(value, BaseModel) or _is_record(value):
        return {
            name: written
            for name, given, default in _settings(value)
            if (written := differing(given)) != default or name == "name"
        }
    if isinstance(value, Mapping):
        return {str(key): differing(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [differing(each) for each in value]
    return str(value) if isinstance(value, Path) else value


def _settings(record: Any) -> Iterator[tuple[str, Any, Any]]:
    """Yield name, value and default of each setting; a default may be lacking."""
    kind = type(record).__name__
    for name, default in _defaults(record):
        at_first = SCHEMA_DEFAULTS.get((kind, name), default)
        yield name, getattr(record, name), differing(_as_in_schema(at_first))


def _as_in_schema(default: Any) -> Any:
    """Return a section of settings that is left out as the schema has it."""
    if not (isinstance(default, BaseModel) or _is_record(default)):
        return default
    kind, old = type(default).__name__, {}
    for name, today in _defaults(default):
        given = getattr(default, name)
        noted = (kind, name) in SCHEMA_DEFAULTS and given == today
        old[name] = SCHEMA_DEFAULTS[kind, name] if noted else _as_in_schema(given)
    if isinstance(default, BaseModel):
        return default.model_copy(update=old)
    return dataclasses.replace(default, **old)


def _defaults(record: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(record, BaseModel):
        for name, info in type(record).model_fields.items():
            required = info.is_required()
            yield (
                name,
                _NONE if required else info.get_default(call_default_factory=True),
            )
        return
    for field in dataclasses.fields(record):
        if field.default_factory is not dataclasses.MISSING:
            yield field.name, field.default_factory()
        else:
            lacking = field.default is dataclasses.MISSING
            yield field.name, _NONE if lacking else field.default


def _is_record(value: Any) -> bool:
    return dataclasses.is_dataclass(value) and not isinstance(value, type)
