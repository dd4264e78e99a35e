"""What there is to choose from."""

from __future__ import annotations

import fedsemi
from fedsemi.data.datasets import DATASETS
from fedsemi.methods import METHODS


def test_every_method_and_data_set_is_listed_with_a_sentence() -> None:
    methods, datasets = fedsemi.list_methods(), fedsemi.list_datasets()
    assert {row["method"] for row in methods} == set(METHODS)
    assert {row["dataset"] for row in datasets} == set(DATASETS)
    assert all(row["what"] for row in (*methods, *datasets))


def test_networks_are_listed() -> None:
    assert "resnet8" in fedsemi.list_models()
