"""Every setting can be looked up, by section, method, or a word for it."""

from __future__ import annotations

import pytest
from typer.testing import CliRunner

from fedsemi.cli import app
from fedsemi.config.described import learner_settings, meant, sections
from fedsemi.config.experiment import make_experiment
from fedsemi.errors import ConfigError


def shown(*arguments: str) -> str:
    found = CliRunner().invoke(app, ["settings", *arguments], env={"COLUMNS": "200"})
    assert found.exit_code == 0, found.exception
    return found.output


def test_no_setting_is_without_a_meaning() -> None:
    chapters = [*sections(), *learner_settings()]
    silent = [s.path for _, found in chapters for s in found if not s.meaning]
    assert silent == []
    assert sum(len(found) for _, found in chapters) > 80


def test_a_section_shows_type_default_and_meaning() -> None:
    (line,) = [row for row in shown("partition").split("\n") if "min_size" in row]
    assert "whole number, 0 or more" in line and " 10 " in line
    assert "Draw again until every client has this many images." in line


def test_a_method_shows_what_its_stage_may_say() -> None:
    text = shown("semianagg")
    assert '"paper" or "released" or "presence"' in text and "setup" not in text


def test_a_part_of_a_name_or_a_symbol_of_the_paper_is_enough() -> None:
    assert meant("lr") == ["local.lr_labeled", "local.lr_unlabeled"]
    assert meant("K") == ["partition.num_clients"]
    assert "local.lr_unlabeled" in shown("lr") and "num_clients" in shown("K")


def test_what_is_called_nothing_gets_one_line() -> None:
    found = CliRunner().invoke(app, ["settings", "partitoin"])
    assert isinstance(found.exception, ConfigError)
    assert "did you mean 'partition'" in str(found.exception)


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
