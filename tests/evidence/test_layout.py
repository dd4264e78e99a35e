"""Tables are laid out as in the paper; what is best and what ties is worked by hand."""

from __future__ import annotations

from tests.evidence.by_hand import evidence_of

from fedsemi.evidence.captions import caption_of
from fedsemi.evidence.catalogue import Artifact, Cell, Setting, setting
from fedsemi.evidence.layout import Column, Grid, grid_of, named
from fedsemi.evidence.profiles import Profile, read_profile
from fedsemi.evidence.questions import MAIN, QUESTIONS
from fedsemi.evidence.render import markdown_grid
from fedsemi.evidence.results import Evidence
from fedsemi.evidence.tables import TABLES

ARMS = ("upper", "uniform", "permuted", "semianagg")
SCORES = {
    "upper": [0.90, 0.92, 0.94],
    "uniform": [0.60, 0.62, 0.70],
    "permuted": [0.50, 0.52, 0.55],
    "semianagg": [0.61, 0.63, 0.69],
}


def table(**more: float) -> Artifact:
    cells = [Cell(arm, setting("isic18", arm), paper=more.get(arm)) for arm in ARMS]
    return Artifact("table0", "Four rows", tuple(cells))


def scored(*arms: str) -> dict[Setting, list[float | None]]:
    return {setting("isic18", arm): list(SCORES[arm]) for arm in arms}


def marks(grid: Grid) -> dict[str, str]:
    return {entry.cell.row: entry.mark for entry in grid.entries}


def test_the_best_is_no_bound_and_ties_are_those_the_test_cannot_tell(
    tiny: Profile,
) -> None:
    # uniform − semianagg = −1, −1, +1: its interval includes zero. permuted is about
    # 11 to 14 points behind. The upper bound is above all and no method.
    found = marks(grid_of(table(), evidence_of(tiny, scored(*ARMS))))
    assert found == {
        "upper": "",
        "uniform": "tied",
        "permuted": "",
        "semianagg": "best",
    }


def test_the_best_is_found_on_the_seeds_that_all_methods_have(tiny: Profile) -> None:
    scores = scored("uniform", "semianagg")
    # A third, lucky seed of one method alone must not make it the best.
    scores[setting("isic18", "uniform")][2] = 0.99
    scores[setting("isic18", "semianagg")][2] = None
    assert marks(grid_of(table(), evidence_of(tiny, scores)))["semianagg"] == "best"


def test_one_shared_seed_marks_nothing_and_the_caption_says_so(tiny: Profile) -> None:
    one: dict[Setting, list[float | None]] = {
        each: values[:1] for each, values in scored(*ARMS).items()
    }
    evidence = evidence_of(tiny, one)
    grid = grid_of(table(), evidence)
    assert set(marks(grid).values()) == {""}
    assert "Methods do not share two seeds yet, so no best" in caption_of(
        grid, evidence
    )


def test_a_method_alone_among_bounds_is_not_called_short_of_seeds(
    tiny: Profile,
) -> None:
    evidence = evidence_of(tiny, scored("uniform", "upper"))
    caption = caption_of(grid_of(table(), evidence), evidence)
    assert "There are no two methods to compare, so no best is marked." in caption


def test_markdown_has_methods_as_rows_and_the_papers_number_small(
    tiny: Profile,
) -> None:
    evidence = evidence_of(tiny, scored("uniform", "semianagg"))
    text = markdown_grid(grid_of(table(semianagg=72.24), evidence))
    assert "| method | ISIC-18, Acc |" in text
    # 61, 63, 69: mean 64.3, deviation sqrt(52 / 3).
    assert "| semianagg | **64.3** ± 4.2 <sub>72.24</sub> |" in text
    assert "| uniform | 64.0 ± 5.3 ≈ |" in text and "| upper | – |" in text


def test_seeds_stand_in_the_caption_and_where_they_differ_in_the_cell(
    tiny: Profile,
) -> None:
    scores = scored(*ARMS)
    scores[setting("isic18", "permuted")] = [0.5, 0.52]
    evidence = evidence_of(tiny, scores)
    grid = grid_of(table(), evidence)
    assert "3 seeds where no other number (n) is given, profile smoke" in caption_of(
        grid, evidence
    )
    assert "51.0 ± 1.4 (n = 2)" in markdown_grid(grid)


def test_rows_with_other_seeds_are_read_from_the_paired_tests(tiny: Profile) -> None:
    scores = scored(*ARMS)
    even = evidence_of(tiny, scores)
    assert "paired tests, not" not in caption_of(grid_of(table(), even), even)
    scores[setting("isic18", "permuted")] = [0.5, 0.52]
    evidence = evidence_of(tiny, scores)
    assert (
        "Rows of one column have 2 to 3 seeds, and seeds differ in level: read "
        "differences between such rows from the paired tests, not from their means."
    ) in caption_of(grid_of(table(), evidence), evidence)


def test_columns_with_other_seeds_than_other_columns_are_no_uneven_rows(
    tiny: Profile,
) -> None:
    cells = [
        Cell("a", setting("isic18", "uniform")),
        Cell("a", setting("svhn", "lower")),
    ]
    evidence = evidence_of(tiny, {cells[0].setting: [0.5], cells[1].setting: [0.5] * 3})
    assert grid_of(Artifact("table0", "", tuple(cells)), evidence).uneven is None


def test_seeds_that_one_arm_has_beyond_the_plan_are_not_in_its_mean(
    tiny: Profile,
) -> None:
    # Five are planned; the sixth is that of one arm alone.
    scores: dict[Setting, list[float | None]] = {
        setting("isic18", "uniform"): [*[0.6] * 5, 0.9],
        setting("isic18", "semianagg"): [0.6, 0.61, 0.62, 0.63, 0.64],
    }
    text = markdown_grid(grid_of(table(), evidence_of(tiny, scores)))
    assert "| uniform | 60.0 ± 0.0 |" in text
    assert "| semianagg | **62.0** ± 1.6 |" in text


def test_a_question_has_its_own_number_of_seeds(medium: Profile) -> None:
    # Ten on MNIST, where the profile has five: of thirteen the last three are left out.
    values: list[float | None] = [*[0.8] * 10, *[0.9] * 3]
    arms = ("uniform", "semianagg")
    evidence = evidence_of(medium, {setting("mnist", a, **MAIN): values for a in arms})
    entries = grid_of(QUESTIONS["q2"], evidence).entries
    assert {(e.ours.n, round(e.ours.mean, 1)) for e in entries if e.ours} == {
        (10, 80.0)
    }


def test_a_single_seed_is_always_told(tiny: Profile) -> None:
    scores = {each: values[:1] for each, values in scored(*ARMS).items()}
    scores[setting("isic18", "permuted")] = [0.5, 0.52, 0.54]
    grid = grid_of(table(), evidence_of(tiny, scores))
    assert grid.usual_seeds == 3 and "(n = 1)" in markdown_grid(grid)


def test_columns_without_runs_are_named_and_not_shown() -> None:
    medium = read_profile("medium")  # in `smoke` all data sets are the same
    evidence = evidence_of(medium, {setting("isic18", "semianagg"): [0.5, 0.6]})
    grid = grid_of(TABLES["table1"], evidence)
    assert [each.columns for each in grid.panels] == [
        (Column("ISIC-18", "Acc"), Column("ISIC-18", "B-Acc"))
    ]
    assert grid.missing == ("SVHN", "CIFAR-100", "CIFAR-100-LT")


def test_the_running_mean_is_a_column_beside_the_model_with_a_best_of_its_own(
    tiny: Profile,
) -> None:
    arms = ("uniform", "semianagg")
    cells = [
        Cell(arm, setting("isic18", arm), averaged=averaged)
        for arm in arms
        for averaged in (False, True)
    ]
    evidence = evidence_of(tiny, {setting("isic18", "uniform"): [0.6, 0.62]}, lead=0.3)
    theirs = evidence_of(tiny, {setting("isic18", "semianagg"): [0.7, 0.72]}, lead=0.1)
    both = Evidence(tiny, 2, {**evidence.records, **theirs.records})
    grid = grid_of(Artifact("table0", "Both scores", tuple(cells)), both)
    text = markdown_grid(grid)
    assert "| method | ISIC-18, Acc | ISIC-18, Acc, running mean |" in text
    assert "| uniform | 61.0 ± 1.4 | **91.0** ± 1.4 |" in text
    assert "| semianagg | **71.0** ± 1.4 | 81.0 ± 1.4 |" in text
    assert "The running mean decides here." in caption_of(grid, both)


def test_a_long_name_of_a_metric_takes_its_room(tiny: Profile) -> None:
    # A data set takes 12 + 17 of 100 characters, so that three fit.
    names = ("svhn", "isic18", "cifar100", "cifar100-lt")
    cells = [
        Cell("a", setting(name, "uniform"), averaged=averaged)
        for name in names
        for averaged in (False, True)
    ]
    table = Artifact("table0", "", tuple(cells))
    grid = grid_of(table, evidence_of(tiny, {s: [0.5] for s in table.settings}))
    assert [len(panel.groups) for panel in grid.panels] == [3, 1]


def test_a_wide_table_is_broken_between_conditions_as_in_the_paper(
    tiny: Profile,
) -> None:
    settings = TABLES["table4"].settings
    grid = grid_of(TABLES["table4"], evidence_of(tiny, {s: [0.5] for s in settings}))
    first, second = ([name for name, _ in panel.groups] for panel in grid.panels)
    assert first == [f"ISIC-18, {n} clients" for n in (5, 10, 25, 50)]
    assert second == [f"ISIC-18, alpha {a}" for a in (0.1, 0.5, 0.8, 2)]


def test_seeds_beyond_those_asked_for_are_found_as_long_as_they_follow(
    tiny: Profile,
) -> None:
    one = setting("isic18", "semianagg")
    evidence = evidence_of(tiny, {one: [0.5, 0.6, None, 0.8]})
    assert list(evidence.found(one)) == [1, 2]


def test_a_setting_is_named_by_its_method_and_what_is_special_about_its_data() -> None:
    two = setting("isic18", "semianagg", labeled_clients=2)
    assert named(two) == "SemiAnAgg, paper's rule, labeled clients 2"
    assert named(setting("own", "uniform-semi")) == "uniform-semi", "of one's own"
