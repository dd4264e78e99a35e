"""Constants by data set."""

from __future__ import annotations

from dataclasses import fields

from fedsemi.evidence.constants import CONSTANTS
from fedsemi.methods import METHODS


def test_constants_by_data_set_are_settings_of_their_method() -> None:
    for by_method in CONSTANTS.values():
        for method, settings in by_method.items():
            known = {field.name for field in fields(METHODS[method])}
            assert set(settings) <= known | {"local"}
