"""The settings of a method, which are the fields of its dataclass, checked strictly."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from functools import cache
from typing import Any, TypeVar, cast, get_type_hints

from pydantic import BaseModel, Field, TypeAdapter, create_model

from fedsemi.client.learners import LEARNERS, Learner, LocalLearner
from fedsemi.errors import ConfigError
from fedsemi.method import Method
from fedsemi.methods import METHODS
from fedsemi.settings import STRICT

T = TypeVar("T")


def method_settings(method: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Check the settings of a method against its fields and fill in the defaults."""
    checked = parsed(settings_model(method, settings), settings)
    return {name: getattr(checked, name) for name in type(checked).model_fields}


def settings_model(
    method: str, settings: Mapping[str, Any] | None = None
) -> type[BaseModel]:
    """Make a pydantic model of a method's fields, all but its `setup`.

    Args:
        method: Its name.
        settings: What a config says; a learner from outside is looked up there.
    """
    outside = {
        key: LEARNERS[name]
        for key, name in learners_in(settings or {}).items()
        if name in LEARNERS and name not in LEARNERS.own
    }
    return _model(method, METHODS[method], tuple(outside.items()))


def learners_in(settings: Mapping[str, Any]) -> dict[str, str]:
    """Find what may name a learner among a method's settings: tables with a name."""
    return {
        key: str(value["name"])
        for key, value in settings.items()
        if isinstance(value, Mapping) and "name" in value
    }


@cache  # by the class as well, which a notebook may define anew
def _model(
    name: str,
    maker: type[Method[Any]],
    learners: tuple[tuple[str, type[LocalLearner]], ...],
) -> type[BaseModel]:
    try:
        hints = get_type_hints(maker, include_extras=True)
        hints |= {key: kind for key, kind in learners if hints.get(key) is Learner}
        fields: dict[str, Any] = {
            field.name: (hints[field.name], _default(field))
            for field in maker.settings()
        }
        return create_model(f"{name} settings", __config__=STRICT, **fields)
    except Exception as error:
        if name in METHODS.own and not learners:
            raise
        reason = " ".join(f"{type(error).__name__}: {error}".split())[:200]
        raise ConfigError(
            f"the settings of '{name}' cannot be read ({reason}); its fields must "
            "have types that a config can hold",
            code="FS4161",
        ) from None


def _default(field: dataclasses.Field[Any]) -> Any:
    if field.default_factory is not dataclasses.MISSING:
        return Field(default_factory=field.default_factory)
    return ... if field.default is dataclasses.MISSING else field.default


def parsed(kind: type[T], content: Mapping[str, Any]) -> T:
    """Check settings against a model or a dataclass."""
    # By way of JSON: strict pydantic takes a table for a dataclass only from there.
    adapter: TypeAdapter[T] = _adapter(cast(Any, kind))
    return adapter.validate_json(json.dumps(content, default=str))


@cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    # To make one takes far longer than to use it.
    return TypeAdapter(kind)
