"""Every setting can be looked up, by section, method, or a word for it."""

from __future__ import annotations

from typer.testing import CliRunner

from fedsemi.cli import app
from fedsemi.errors import ConfigError


def shown(*arguments: str) -> str:
    found = CliRunner().invoke(app, ["settings", *arguments], env={"COLUMNS": "200"})
    assert found.exit_code == 0, found.exception
    return found.output


def test_a_section_shows_type_default_and_meaning() -> None:
    (line,) = [row for row in shown("partition").split("\n") if "min_size" in row]
    assert "whole number, 0 or more" in line and " 10 " in line
    assert "Draw again until every client has this many images." in line


def test_a_method_shows_what_its_stage_may_say() -> None:
    text = shown("semianagg")
    assert '"paper" or "released" or "presence"' in text and "setup" not in text


def test_a_part_of_a_name_or_a_symbol_of_the_paper_is_enough() -> None:
    assert "local.lr_unlabeled" in shown("lr") and "num_clients" in shown("K")


def test_a_local_learner_is_found_by_its_name() -> None:
    text = shown("pseudo-label")
    assert 'learner = { name = "pseudo-label" }' in text and "learner.cutoff" in text
    assert text.count("name =") == 1


def test_a_slip_in_the_name_of_a_learner_is_put_right() -> None:
    found = CliRunner().invoke(app, ["settings", "pseudo-lable"])
    assert "did you mean 'pseudo-label'" in str(found.exception)


def test_what_is_called_nothing_gets_one_line() -> None:
    found = CliRunner().invoke(app, ["settings", "partitoin"])
    assert isinstance(found.exception, ConfigError)
    assert "did you mean 'partition'" in str(found.exception)
