"""The catalogue: everything in the paper, each number once."""

from __future__ import annotations

import pytest

from fedsemi.errors import ConfigError
from fedsemi.evidence.catalogue import find, only, setting
from fedsemi.evidence.figures import CATALOGUE
from fedsemi.evidence.notes import NOTES
from fedsemi.evidence.profiles import NAMES, read_profile
from fedsemi.evidence.render import notes_of


def test_it_has_nine_tables_and_twelve_figures() -> None:
    wanted = {f"table{i}" for i in range(1, 10)} | {f"fig{i}" for i in range(1, 13)}
    assert set(CATALOGUE) == wanted


def test_every_figure_but_the_worked_example_has_a_chart_and_every_table_numbers() -> (
    None
):
    for name, artefact in CATALOGUE.items():
        if name.startswith("table"):
            assert any(cell.paper is not None for cell in artefact.cells), name
        elif name != "fig2":
            assert all(chart.settings for chart in artefact.charts) and artefact.charts


def test_every_note_that_is_named_exists() -> None:
    for artefact in CATALOGUE.values():
        assert set(notes_of(artefact)) <= set(NOTES)


def test_every_note_is_named() -> None:
    named = {name for artefact in CATALOGUE.values() for name in notes_of(artefact)}
    assert set(NOTES) == named


@pytest.mark.parametrize("name", NAMES)
def test_every_setting_makes_a_valid_config_in_every_profile(name: str) -> None:
    profile = read_profile(name)
    for artefact in CATALOGUE.values():
        for each in artefact.settings:
            profile.experiment(each, 1)


def test_an_unknown_name_is_answered_with_the_nearest_one() -> None:
    with pytest.raises(ConfigError, match="did you mean 'table1'"):
        find(["tabel1"], CATALOGUE)


def test_only_takes_lists_of_data_sets_and_methods() -> None:
    settings = [setting(d, a) for d in ("svhn", "isic18") for a in ("lower", "upper")]
    assert only(settings, "svhn") == settings[:2]
    assert only(settings, "/lower") == [settings[0], settings[2]]
    assert only(settings, "svhn,isic18/upper") == [settings[1], settings[3]]


def test_an_override_changes_all_data_sets_or_the_one_it_names() -> None:
    profile = read_profile("small", ["rounds=3", "svhn.model.width=4"])
    assert profile.experiment(setting("isic18", "semianagg"), 1).stages[1].rounds == 3
    assert profile.experiment(setting("svhn", "semianagg"), 1).model.width == 4
    assert profile.experiment(setting("isic18", "semianagg"), 1).model.width == 16
    with pytest.raises(ConfigError, match="no 'roundz'"):
        read_profile("small", ["roundz=3"])


@pytest.mark.parametrize("name", NAMES)
def test_the_guard_is_off_in_every_profile_and_can_be_set(name: str) -> None:
    one = setting("svhn", "semianagg")
    assert not read_profile(name).experiment(one, 1).guard.enabled
    guarded = read_profile(name, ["guard.enabled=true"]).experiment(one, 1)
    assert guarded.guard.enabled
