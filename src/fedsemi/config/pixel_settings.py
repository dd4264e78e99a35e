"""Settings of pictures that a model is used on, checked as those of [sites] are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from pydantic import ValidationError

from fedsemi.config.explain import explained
from fedsemi.config.files import apply_override
from fedsemi.config.method_settings import parsed
from fedsemi.data.decode import Pixels
from fedsemi.data.site_settings import SitesSettings
from fedsemi.errors import ConfigError, nearest

_FIELDS = {
    "sites.sixteen_bit_range": "deep_range",
    "sites.background": "background",
}
"""What may be set, and what it is called among the pixels."""
_OTHERS = {"folders": ["any"], "classes": ["any", "other"]}
"""What [sites] must have and pictures do not need."""


def changed_pixels(pixels: Pixels, overrides: Sequence[str]) -> Pixels:
    """Say how pictures become pixels, with `sites.key=value` put over it."""
    content: dict[str, Any] = {"sites": dict(_OTHERS)}
    paths = [override.partition("=")[0] for override in overrides]
    for path, override in zip(paths, overrides, strict=True):
        if path not in _FIELDS:
            raise ConfigError(
                f"'{path}' cannot be set for a trained model{nearest(path, _FIELDS)}; "
                f"known are {', '.join(_FIELDS)}",
                code="FS4101",
            )
        apply_override(content, override)
    try:
        fresh = parsed(SitesSettings, content["sites"]).pixels(pixels.side)
    except ValidationError as error:
        raise explained(error, SitesSettings, "sites", ()) from None
    return replace(
        pixels, **{_FIELDS[path]: getattr(fresh, _FIELDS[path]) for path in paths}
    )
