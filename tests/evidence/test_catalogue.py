"""The catalogue: everything in the paper, each number once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from fedsemi.errors import ConfigError
from fedsemi.evidence.captions import notes_of
from fedsemi.evidence.catalogue import (
    Artifact,
    Cell,
    Chart,
    Setting,
    find,
    only,
    setting,
)
from fedsemi.evidence.figures import CATALOGUE
from fedsemi.evidence.notes import NOTES
from fedsemi.evidence.profiles import NAMES, read_profile
from fedsemi.evidence.questions import QUESTIONS


def test_it_has_nine_tables_and_twelve_figures() -> None:
    wanted = {f"table{i}" for i in range(1, 10)} | {f"fig{i}" for i in range(1, 13)}
    assert set(CATALOGUE) == wanted


def test_a_lead_of_the_paper_is_the_difference_of_its_two_numbers() -> None:
    table, ours = CATALOGUE["table3"], setting("isic18", "semianagg")
    accuracy, balanced, *_ = table.cells  # of FedAvg
    equal, _ = [each for each in table.cells if each.setting.arm == "uniform"]
    assert table.lead(ours, accuracy) == pytest.approx(72.24 - 62.16)
    assert table.lead(ours, balanced) == pytest.approx(48.77 - 31.73)
    # Neither has the paper equal shares, nor this table SVHN.
    assert table.lead(ours, equal) is None
    assert table.lead(setting("svhn", "semianagg"), accuracy) is None


def test_every_figure_but_the_worked_example_has_a_chart_and_every_table_numbers() -> (
    None
):
    for name, artifact in CATALOGUE.items():
        if name.startswith("table"):
            assert any(cell.paper is not None for cell in artifact.cells), name
        elif name != "fig2":
            assert all(chart.settings for chart in artifact.charts) and artifact.charts


def test_what_the_baselines_own_authors_published_stands_beside() -> None:
    published = {
        cell.setting.label: cell.published
        for cell in CATALOGUE["table1"].cells
        if cell.published is not None
    }
    assert published == {
        "svhn/rscfed": 76.74,
        "cifar100/rscfed": 28.46,
        "isic18/rscfed": 67.21,
        "svhn/cbafed": 88.07,
        "cifar100/cbafed": 30.18,
        "isic18/cbafed": 68.29,
    }


def test_every_note_that_is_named_exists() -> None:
    for artifact in CATALOGUE.values():
        assert set(notes_of(artifact)) <= set(NOTES)


def test_every_note_is_named() -> None:
    named = {name for artifact in CATALOGUE.values() for name in notes_of(artifact)}
    assert set(NOTES) == named


@pytest.mark.parametrize("name", NAMES)
def test_every_setting_makes_a_valid_config_in_every_profile(name: str) -> None:
    profile = read_profile(name)
    for artifact in CATALOGUE.values():
        for each in artifact.settings:
            profile.experiment(each, 1)


def test_an_unknown_name_is_answered_with_the_nearest_one() -> None:
    with pytest.raises(ConfigError, match="did you mean 'table1'"):
        find(["tabel1"], CATALOGUE)
    with pytest.raises(ConfigError, match="did you mean 'fig4'"):
        find(["all", "fgi4"], CATALOGUE)


def test_only_takes_lists_of_data_sets_and_methods() -> None:
    settings = [setting(d, a) for d in ("svhn", "isic18") for a in ("lower", "upper")]
    assert only(settings, "svhn") == settings[:2]
    assert only(settings, "/lower") == [settings[0], settings[2]]
    assert only(settings, "svhn,isic18/upper") == [settings[1], settings[3]]
    assert only(settings, None) == settings


def test_only_takes_the_one_cell_that_has_these_conditions_and_no_other() -> None:
    plain, one = setting("svhn", "lower"), setting("svhn", "lower", num_clients=5)
    both = setting("svhn", "lower", num_clients=5, labeled_clients=2)
    settings = [plain, one, both]
    assert only(settings, "svhn/lower/num_clients=5") == [one]
    assert only(settings, "//num_clients=5,labeled_clients=2") == [both]
    assert only(settings, "svhn/lower/") == settings


@pytest.mark.parametrize(
    ("pattern", "said"),
    [
        ("svnh", "did you mean 'svhn'"),
        ("svhn,isic", "has 'isic' (did you mean 'isic18'?)"),
        ("/uper", "did you mean 'upper'"),
        ("svhn/lower,rscfed", "has 'rscfed'; there is lower, upper"),
        ("svhn/lower/num_clients=7", "did you mean 'num_clients=5'"),
        ("svhn/upper/num_clients=5", "nothing that is asked for is all of 'svhn/upper"),
        ("svhn/lower/num_clients=5/x", "has 'num_clients=5/x'"),
    ],
)
def test_only_refuses_what_is_not_asked_for(pattern: str, said: str) -> None:
    settings = [setting(d, a) for d in ("svhn", "isic18") for a in ("lower", "upper")]
    settings.append(setting("svhn", "lower", num_clients=5))
    with pytest.raises(ConfigError) as error:
        only(settings, pattern)
    assert error.value.code == "FS4104" and said in str(error.value)


def test_all_means_the_papers_and_no_question() -> None:
    everything = CATALOGUE | QUESTIONS
    assert find(["all"], everything) == list(CATALOGUE.values())
    assert find(["q1", "table2", "q1"], everything) == [
        QUESTIONS["q1"],
        CATALOGUE["table2"],
    ]


def test_a_name_that_is_none_gets_all_that_are() -> None:
    with pytest.raises(ConfigError) as error:
        find(["worth"], CATALOGUE | QUESTIONS)
    assert ", ".join((*QUESTIONS, "or all")) in str(error.value)


def test_an_artifact_needs_each_run_once_whether_for_a_cell_or_a_plot() -> None:
    a, b = setting("svhn", "lower"), setting("svhn", "upper")
    cells = (Cell("x", a), Cell("y", a, "auc"))
    made = Artifact("t", "", cells, (Chart("curves", "", (b, a)),))
    assert made.settings == (a, b)


def test_a_setting_is_the_same_in_whatever_order_it_is_written() -> None:
    one = setting("svhn", "lower", num_clients=5, labeled_clients=2)
    assert one == setting("svhn", "lower", labeled_clients=2, num_clients=5)
    assert one.label == "svhn/lower labeled_clients=2 num_clients=5"
    assert one.conditions == ["labeled clients 2", "num clients 5"]
    less = Setting("svhn", "semianagg", (), 4)
    assert less.label == "svhn/semianagg without client 4"


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


def test_the_papers_partition_is_used_where_its_file_is_there(tmp_path: Path) -> None:
    name = "SVHN_noniid_10%labeled.pth"
    (tmp_path / name).touch()
    profile = read_profile("paper").with_published(tmp_path)

    def file(dataset: str, arm: str, **partition: Any) -> str | None:
        made = profile.experiment(setting(dataset, arm, **partition), 1)
        return made.partition.file

    assert file("svhn", "semianagg") == file("svhn", "upper") == name
    assert file("cifar100", "semianagg") is None, "its file is not there"
    assert file("svhn", "semianagg", labeled_fraction=0.1) is None
    assert file("svhn", "semianagg", num_clients=25) is None
    assert file("svhn", "semianagg", labeled_clients=2) is None


def test_a_draw_that_is_asked_for_is_drawn(tmp_path: Path) -> None:
    (tmp_path / "SVHN_noniid_10%labeled.pth").touch()
    one = setting("svhn", "semianagg")
    for override in ("partition.seed=4", "data.train_limit=500"):
        profile = read_profile("paper", [override]).with_published(tmp_path)
        assert profile.experiment(one, 1).partition.file is None
