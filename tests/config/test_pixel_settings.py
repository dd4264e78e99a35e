"""How pictures become pixels where a trained model is used."""

from __future__ import annotations

import pytest

from fedsemi.config.pixel_settings import changed_pixels
from fedsemi.data.decode import Pixels
from fedsemi.errors import ConfigError

LEARNED = Pixels(32, 1, (9, 9, 9), (0.0, 255.0))


def test_without_a_change_pictures_are_read_as_they_were_learned() -> None:
    assert changed_pixels(LEARNED, []) == LEARNED


def test_only_what_is_named_is_changed() -> None:
    deep = changed_pixels(LEARNED, ["sites.sixteen_bit_range=[0, 4095]"])
    assert deep == Pixels(32, 1, (9, 9, 9), (0.0, 4095.0))
    both = ["sites.background=[1, 2, 3]", "sites.sixteen_bit_range=[5, 6]"]
    assert changed_pixels(LEARNED, both) == Pixels(32, 1, (1, 2, 3), (5.0, 6.0))


@pytest.mark.parametrize(
    ("override", "code", "said"),
    [
        ("sites.sixteen_bit_range=[9, 1]", "FS4100", "must rise"),
        ("sites.sixteen_bit_range=[1]", "FS4102", "sites.sixteen_bit_range"),
        ("sites.background=[0, 0, 300]", "FS4102", "sites.background"),
        ("sites.sixteen_bit=1", "FS4101", "did you mean 'sites.sixteen_bit_range'"),
        ("seed=1", "FS4101", "cannot be set for a trained model"),
        ("sites.background", "FS4102", "not of the form"),
    ],
)
def test_what_cannot_be_is_one_line(override: str, code: str, said: str) -> None:
    with pytest.raises(ConfigError) as raised:
        changed_pixels(LEARNED, [override])
    assert raised.value.code == code and said in str(raised.value)
