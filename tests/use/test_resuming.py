"""Which runs may be continued by a command or a program."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from fedsemi.errors import ConfigError, StorageError
from fedsemi.use.resuming import config_of, refuse_coordinators_run, refuse_flower_run


def test_the_settings_of_a_run_are_in_its_folder(real_run: Path) -> None:
    assert config_of(real_run) == real_run / "config.json"


def test_a_folder_without_a_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="not the folder of a run"):
        config_of(tmp_path)


def test_the_run_of_a_coordinator_is_left_to_it(tmp_path: Path, real_run) -> None:
    refuse_coordinators_run(real_run)
    (tmp_path / "enrolled").mkdir()
    (tmp_path / "plan.json").write_text("{}")
    with pytest.raises(ConfigError, match="fedsemi server"):
        refuse_coordinators_run(tmp_path / "run")


@pytest.mark.parametrize(("memory", "refused"), [({"after": 1}, True), ({}, False)])
def test_a_run_whose_sites_keep_their_memories_is_refused(memory, refused) -> None:
    folder: Any = SimpleNamespace(start=SimpleNamespace(memories={0: memory}))
    if refused:
        with pytest.raises(ConfigError, match="made on Flower"):
            refuse_flower_run(folder)
    else:
        refuse_flower_run(folder)
