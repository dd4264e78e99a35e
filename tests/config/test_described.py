"""What is said of settings is read from the classes that check them."""

from __future__ import annotations

import pytest

from fedsemi.config.described import learner_settings, meant, sections
from fedsemi.config.experiment import make_experiment
from fedsemi.errors import ConfigError


def test_no_setting_is_without_a_meaning() -> None:
    chapters = [*sections(), *learner_settings()]
    silent = [s.path for _, found in chapters for s in found if not s.meaning]
    assert silent == []
    assert sum(len(found) for _, found in chapters) > 80


def test_a_word_means_a_part_of_a_name_or_a_symbol_of_the_paper() -> None:
    assert meant("lr") == ["local.lr_labeled", "local.lr_unlabeled"]
    assert meant("K") == ["partition.num_clients"]
    assert meant("nothing") == []


@pytest.mark.parametrize(
    ("key", "place"),
    [
        ("alpha", "partition.dirichlet_alpha"),
        ("K", "partition.num_clients"),
        ("lr", "local.lr_labeled or local.lr_unlabeled"),
    ],
)
def test_a_setting_without_its_section_is_found_across_sections(
    key: str, place: str
) -> None:
    content = {
        "data": {"name": "digits"},
        "model": {"name": "resnet8"},
        "stages": [{"method": "supervised", "rounds": 1}],
        key: 1,
    }
    with pytest.raises(ConfigError, match=place):
        make_experiment(content)
