"""Tables as text: every cell says what it is."""

from __future__ import annotations

import csv
import io

import pytest
from tests.evidence.made import evidence_of, record

from fedsemi.evidence.captions import about, notes_of
from fedsemi.evidence.catalogue import Artifact, Cell, Setting, setting
from fedsemi.evidence.profiles import Profile, read_profile
from fedsemi.evidence.render import (
    TEST_HEAD,
    as_csv,
    as_markdown,
    line_table,
    markdown_table,
    name_of,
    paired_rows,
)
from fedsemi.evidence.results import Comparison, Evidence
from fedsemi.evidence.stats import paired

OURS, OTHER = setting("isic18", "semianagg"), setting("isic18", "rscfed")


def rows_of(evidence: Evidence, *cells: Cell) -> list[dict[str, str]]:
    made = Artifact("table0", "", cells)
    head, rows = line_table(made, evidence)
    return [dict(zip(head, row, strict=True)) for row in rows]


def test_a_table_in_markdown_has_a_head_a_rule_and_its_rows() -> None:
    text = markdown_table(("a", "b"), [("1", "2"), ("3", "4")])
    assert text.splitlines() == ["| a | b |", "|---|---|", "| 1 | 2 |", "| 3 | 4 |"]


def test_a_row_says_seeds_and_profile_and_one_seed_has_no_deviation(
    tiny: Profile,
) -> None:
    (one,) = rows_of(evidence_of(tiny, {OURS: [record(0.5)]}), Cell("x", OURS))
    assert one["ours"] == "50.0 (1 seed, smoke)" and one["paper"] == "–"
    two = evidence_of(tiny, {OURS: [record(0.5), record(0.6)]})
    (row,) = rows_of(two, Cell("x", OURS))
    assert row["ours"] == "55.0 ± 7.1 (2 seeds, smoke)"  # sqrt(50)


def test_what_was_not_run_is_a_dash_and_says_so(tiny: Profile) -> None:
    (row,) = rows_of(Evidence(tiny, 1, {}), Cell("x", OURS, "auc", 86.98))
    assert (row["ours"], row["verdict"], row["metric"]) == ("–", "not run", "AUC")
    assert row["gap closed"] == "–"


def test_a_row_names_its_condition_and_how_many_clients_have_labels(
    tiny: Profile,
) -> None:
    two = setting("isic18", "rscfed", labeled_clients=2)
    cells = (Cell("x", two), Cell("y", OTHER, condition="alpha 0.1"))
    found = rows_of(Evidence(tiny, 1, {}), *cells)
    assert [row["data"] for row in found] == ["isic18, 2 labeled", "isic18 alpha 0.1"]


def test_what_a_baselines_authors_published_stands_beside_the_papers_number(
    tiny: Profile,
) -> None:
    cell = Cell("x", OTHER, paper=69.85, published=67.21)
    (row,) = rows_of(Evidence(tiny, 1, {}), cell)
    assert row["paper"] == "69.85 (as published 67.21)"


@pytest.mark.parametrize("arm", ["upper", "lower", "warm-up", "cbafed-warm-up"])
def test_bounds_close_no_gap(tiny: Profile, arm: str) -> None:
    one = setting("isic18", arm)
    (row,) = rows_of(evidence_of(tiny, {one: [record(0.5)]}), Cell("x", one))
    assert row["gap closed"] == ""


def test_a_paired_test_is_a_row_with_its_interval_and_three_ps() -> None:
    each = Comparison(OURS, OTHER, "accuracy", paired([11, 22, 33], [10, 20, 30]))
    (row,) = paired_rows([each])
    assert dict(zip(TEST_HEAD, row, strict=True)) == {
        "data": "isic18",
        "SemiAnAgg against": "rscfed",
        "metric": "Acc",
        "seeds": "3",
        "difference": "+2.00",
        "95 % interval": "-0.5 to +4.5",  # 2 ± 4.3027 / sqrt 3
        "p (t)": "0.074",  # 1 - sqrt(6 / 7)
        "p (Wilcoxon)": "0.250",
        "won / lost": "3 / 0",
        "p (sign)": "0.250",
    }


def test_a_paired_test_of_one_seed_has_dashes_for_what_it_cannot_say() -> None:
    (row,) = paired_rows([Comparison(OURS, OTHER, "auc", paired([3.0], [1.0]))])
    assert row[4:] == ("+2.00", "–", "–", "–", "1 / 0", "–")


def test_a_paired_test_names_data_and_partition_and_not_the_arm() -> None:
    part = setting("mnist", "semianagg", num_clients=20)
    (row,) = paired_rows([Comparison(part, OTHER, "accuracy", paired([1.0], [1.0]))])
    assert row[0] == "mnist num_clients=20"


def test_csv_has_numbers_unrounded_and_a_line_for_each_cell(tiny: Profile) -> None:
    evidence = evidence_of(tiny, {OURS: [record(1 / 3), record(2 / 3)]})
    cells = (Cell("x", OURS, paper=72.24), Cell("y", OTHER, "auc", published=1.5))
    text = as_csv(Artifact("table0", "", cells), evidence)
    ours, other = csv.DictReader(io.StringIO(text))
    assert float(ours["mean"]) == pytest.approx(50, rel=1e-12)
    assert float(ours["sd"]) == pytest.approx(100 / 3 / 2**0.5, rel=1e-12)
    assert (ours["seeds"], ours["paper"], ours["profile"]) == ("2", "72.24", "smoke")
    assert (other["seeds"], other["mean"], other["metric"]) == ("0", "", "auc")
    assert (other["verdict"], other["published"]) == ("not run", "1.5")


def test_the_score_of_the_running_mean_is_named_in_every_form(tiny: Profile) -> None:
    runs = record(0.5)
    runs["rounds"]["running_mean.accuracy"] = [0.75]
    evidence = evidence_of(tiny, {OURS: [runs]})
    table = Artifact("table0", "", (Cell("x", OURS, averaged=True),))
    (row,) = csv.DictReader(io.StringIO(as_csv(table, evidence)))
    assert (row["metric"], float(row["mean"])) == ("running_mean.accuracy", 75.0)
    assert "| Acc, running mean | – | 75.0 (1 seed, smoke) |" in as_markdown(
        table, evidence
    )


def test_csv_names_what_is_special_about_the_partition(tiny: Profile) -> None:
    part = Setting("isic18", "rscfed", (("labeled_clients", 2), ("num_clients", 5)))
    text = as_csv(Artifact("t", "", (Cell("x", part),)), Evidence(tiny, 1, {}))
    (row,) = csv.DictReader(io.StringIO(text))
    assert row["partition"] == "labeled_clients=2 num_clients=5"


def test_a_figure_without_numbers_has_a_title_and_notes_but_no_table(
    tiny: Profile,
) -> None:
    figure = Artifact("fig4", "Convergence", notes=("log-order",))
    text = as_markdown(figure, Evidence(tiny, 1, {}))
    assert text.startswith("# Figure 4: Convergence\n")
    assert "| data |" not in text and "- The released code logs" in text


def test_paired_tests_stand_below_the_table_if_there_are_any(tiny: Profile) -> None:
    cells = (Cell("x", OURS), Cell("y", OTHER))
    both = evidence_of(tiny, {OURS: [record(0.6)], OTHER: [record(0.5)]})
    text = as_markdown(Artifact("table1", "T", cells, tests=(OURS,)), both)
    assert "Paired over seeds:" in text and "| +10.00 |" in text
    alone = evidence_of(tiny, {OURS: [record(0.6)]})
    text = as_markdown(Artifact("table1", "T", cells, tests=(OURS,)), alone)
    assert "Paired over seeds:" not in text


def test_notes_are_named_once_those_of_the_whole_first() -> None:
    cells = (Cell("x", OURS, notes=("leak", "rule")), Cell("y", OTHER, notes=("leak",)))
    assert notes_of(Artifact("t", "", cells, notes=("rule",))) == ["rule", "leak"]


def test_only_the_papers_profile_is_called_the_papers_scale() -> None:
    paper = about(Evidence(read_profile("paper"), 1, {}), [])
    assert paper.startswith("Profile `paper`: the paper's settings.")
    small = about(Evidence(read_profile("small"), 1, {}), [])
    assert "not the paper's scale" in small
    assert "the last tests of the warm-up, the paper's lower bound" in paper


def test_names_of_tables_and_figures_are_written_out() -> None:
    every = ("table3", "fig12", "q1", "q3-dose")
    names = [name_of(Artifact(name, "")) for name in every]
    assert names == ["Table 3", "Figure 12", "Q1", "Q3, dose"]


def test_a_comparison_of_ones_own_has_no_column_for_the_paper(tiny: Profile) -> None:
    made = Artifact("compare", "mine", (Cell("x", OURS),), own=True)
    found = evidence_of(tiny, {OURS: [record(0.5)]})
    head, (row,) = line_table(made, found)
    assert head == ("data", "method", "metric", "ours", "gap closed", "verdict")
    assert row[:4] == ("isic18", "x", "Acc", "50.0 (1 seed, smoke)")
    assert "paper |" not in as_markdown(made, found)
    names = as_csv(made, found).splitlines()[0].split(",")
    assert not {"paper", "paper_gap", "published"} & set(names) and "mean" in names
    theirs = as_csv(Artifact("table0", "", (Cell("x", OURS),)), found)
    assert "paper" in theirs.splitlines()[0].split(",")
