"""Types that settings share, so that an impossible value is refused when it is read."""

from __future__ import annotations

from typing import Annotated

from pydantic import ConfigDict, Field

Share = Annotated[float, Field(ge=0, le=1)]
Positive = Annotated[float, Field(gt=0)]
NotNegative = Annotated[float, Field(ge=0)]
Count = Annotated[int, Field(ge=1)]
Whole = Annotated[int, Field(ge=0)]

STRICT = ConfigDict(extra="forbid", strict=True, use_attribute_docstrings=True)
"""Unknown keys are errors, and a string is not a number."""
