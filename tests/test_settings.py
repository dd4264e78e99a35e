"""Impossible values are refused when they are read."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import BaseModel, TypeAdapter, ValidationError

from fedsemi.settings import STRICT, Count, NotNegative, Positive, Share, Whole

LIMITS = [
    (Share, [0.0, 0.5, 1.0], [-0.01, 1.01]),
    (Positive, [1e-9, 3.0], [0.0, -1.0]),
    (NotNegative, [0.0, 3.0], [-1e-9]),
    (Count, [1, 7], [0, -1]),
    (Whole, [0, 7], [-1]),
]


@pytest.mark.parametrize(("kind", "good", "bad"), LIMITS)
def test_limits_include_what_is_possible_and_nothing_else(
    kind: Any, good: list[float], bad: list[float]
) -> None:
    adapter = TypeAdapter(kind)
    assert [adapter.validate_python(value) for value in good] == good
    for value in [*bad, float("nan")]:
        with pytest.raises(ValidationError):
            adapter.validate_python(value)


@pytest.mark.parametrize("content", [{"n": "1"}, {"n": 1.5}, {"n": 1, "m": 2}])
def test_strict_settings_take_no_other_kind_and_no_other_key(content: Any) -> None:
    class Settings(BaseModel):
        model_config = STRICT
        n: Count

    assert Settings(n=1).n == 1
    with pytest.raises(ValidationError):
        Settings.model_validate(content)
