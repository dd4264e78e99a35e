"""A config that stands for images in memory is named by hashes."""

from __future__ import annotations

from typing import Any

import pytest

from fedsemi.config.experiment import make_experiment
from fedsemi.errors import ConfigError, DataError
from fedsemi.simulation.build import build

DATA = {"name": "arrays", "image_size": 8, "sha256": "ab" * 32}
PARTITION = {"num_clients": 2, "labeled_clients": [0], "sha256": "cd" * 32}


def content(small_config: dict[str, Any], **more: Any) -> dict[str, Any]:
    return small_config | {"data": DATA, "partition": PARTITION} | more


def test_the_hashes_are_part_of_the_name_of_an_experiment(small_config) -> None:
    first = make_experiment(content(small_config))
    other = make_experiment(content(small_config, data=DATA | {"sha256": "ef" * 32}))
    assert first.sha256 != other.sha256


def test_the_new_setting_changes_no_name_of_an_experiment_without_it(
    small_config,
) -> None:
    # Written down before data.sha256 was a setting.
    known = "b072a41b59d39594"
    assert make_experiment(small_config).sha256.startswith(known)


def test_arrays_without_hashes_are_refused(small_config) -> None:
    with pytest.raises(ConfigError, match=r"fedsemi\.simulate") as error:
        make_experiment(content(small_config, data={"name": "arrays"}))
    assert error.value.code == "FS4170"


@pytest.mark.parametrize(
    ("section", "setting"),
    [("partition", {"dirichlet_alpha": 0.1}), ("data", {"train_limit": 5})],
)
def test_what_would_be_ignored_is_refused(small_config, section, setting) -> None:
    made = content(small_config)
    made[section] = made[section] | setting
    with pytest.raises(ConfigError, match=f"{section}.{next(iter(setting))}"):
        make_experiment(made)


def test_no_command_can_read_them_again_and_one_line_says_so(small_config) -> None:
    with pytest.raises(DataError, match=r"fedsemi\.resume\(folder, sites\)") as error:
        build(make_experiment(content(small_config)))
    assert error.value.code == "FS3040"


def test_other_data_than_a_config_asks_for_is_refused(small_config) -> None:
    pinned = small_config["data"] | {"sha256": "00" * 32}
    with pytest.raises(DataError, match="the config asks for 000000000000"):
        build(make_experiment(small_config | {"data": pinned}))
