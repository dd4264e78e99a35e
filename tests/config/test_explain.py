"""A wrong setting is one line: where, what, and what was meant."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import pytest
from pydantic import BaseModel, Field, TypeAdapter, ValidationError

from fedsemi.config.experiment import make_experiment
from fedsemi.config.explain import explained, known
from fedsemi.errors import ConfigError
from fedsemi.settings import STRICT, Count


class Inner(BaseModel):
    model_config = STRICT
    depth: Count = 1


@dataclass(frozen=True)
class Cat:
    name: Literal["cat"] = "cat"
    lives: int = 9


@dataclass(frozen=True)
class Dog:
    name: Literal["dog"] = "dog"


class Settings(BaseModel):
    model_config = STRICT
    width: Count
    inner: Inner | None = None
    animal: Cat | Dog = Field(default=Cat(), discriminator="name")


def said(content: dict[str, Any], prefix: str = "", more: tuple[str, ...] = ()) -> str:
    with pytest.raises(ValidationError) as caught:
        TypeAdapter(Settings).validate_python(content)
    return str(explained(caught.value, Settings, prefix, more))


def test_an_unknown_key_gets_the_nearest_one_and_the_list() -> None:
    assert said({"width": 1, "innner": {}}) == (
        "FS4101 unknown key 'innner' (did you mean 'inner'?); known are animal, inner, "
        "width"
    )


def test_a_key_inside_a_section_is_named_by_its_path_and_compared_with_its_own() -> (
    None
):
    text = said({"width": 1, "inner": {"deepth": 3}}, prefix="model")
    assert text.startswith("FS4101 unknown key 'model.inner.deepth'")
    assert "did you mean 'depth'" in text and "width" not in text


def test_keys_that_belong_there_for_another_reason_are_suggested_too() -> None:
    assert "did you mean 'rounds'" in said({"width": 1, "ronds": 2}, more=("rounds",))
    inside = said({"width": 1, "inner": {"ronds": 2}}, more=("rounds",))
    assert "did you mean" not in inside, "they belong to the top level"


def test_a_missing_key_is_named() -> None:
    assert said({}, prefix="stages.0") == "FS4105 'stages.0.width' is missing"


def test_a_value_of_the_wrong_kind_is_shown() -> None:
    assert said({"width": "8"}).startswith("FS4102 'width' is '8': ")
    assert said({"width": 0}).startswith("FS4102 'width' is 0: ")


def test_an_unknown_variant_gets_the_nearest_one() -> None:
    text = said({"width": 1, "animal": {"name": "dgo"}})
    meant = "(did you mean 'dog'?); known are cat, dog"
    assert text == f"FS4104 animal.name: there is no 'dgo' {meant}"


def test_the_name_of_a_variant_is_not_part_of_a_path(
    small_config: dict[str, Any],
) -> None:
    small_config["stages"][1]["learner"] = {"name": "pseudo-label", "cutof": 0.5}
    with pytest.raises(ConfigError) as caught:
        make_experiment(small_config)
    text = "FS4101 unknown key 'stages.1.learner.cutof' (did you mean 'cutoff'?)"
    assert str(caught.value).startswith(text)


def test_what_belongs_to_a_method_s_class_is_no_setting(
    small_config: dict[str, Any],
) -> None:
    small_config["stages"][1]["learner"]["cutof"] = 0.9
    with pytest.raises(ConfigError, match=r"known are .*cutoff") as caught:
        make_experiment(small_config)
    assert "own_metrics" not in str(caught.value)


def test_a_name_from_a_list_passes_and_another_is_refused() -> None:
    known("--methods", "a", ["a", "b"])
    with pytest.raises(ConfigError, match=r"FS4104 --methods: there is no 'c'"):
        known("--methods", "c", ["a", "b"])
