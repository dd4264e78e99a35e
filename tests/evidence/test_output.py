"""What lies in a results folder."""

from __future__ import annotations

from pathlib import Path

from tests.evidence.made import evidence_of, record

from fedsemi.evidence.catalogue import Artifact, Cell, Chart, setting
from fedsemi.evidence.output import write_all
from fedsemi.evidence.profiles import Profile

OURS, OTHER = setting("isic18", "semianagg"), setting("isic18", "uniform")


def test_tables_are_text_and_numbers_figures_pictures_too_all_on_one_page(
    tiny: Profile, tmp_path: Path
) -> None:
    rows = Cell("SemiAnAgg", OURS), Cell("Uniform", OTHER)
    table = Artifact("table1", "Numbers", rows)
    figure = Artifact("fig1", "Curves", charts=(Chart("curves", "A", (OURS,)),))
    evidence = evidence_of(tiny, {OURS: [record(0.5)], OTHER: [record(0.25)]})
    page = write_all(tmp_path / "new" / "folder", [table, figure], evidence)
    names = sorted(path.name for path in page.parent.iterdir())
    kinds = [f"table1.{kind}" for kind in ("csv", "md", "tex")]
    assert names == ["fig1.csv", "fig1.md", "fig1.svg", "index.html", *kinds]
    text = page.read_text("utf-8")
    assert "Numbers" in text and "Curves" in text and "50.0 (1 seed, smoke)" in text
    assert (page.parent / "table1.csv").read_text("utf-8").count("\n") == 3


def test_what_was_not_run_has_no_file(tiny: Profile, tmp_path: Path) -> None:
    table = Artifact("table1", "Numbers", (Cell("SemiAnAgg", OURS),))
    page = write_all(tmp_path, [table], evidence_of(tiny, {}))
    assert list(tmp_path.iterdir()) == [page]


def test_what_was_written_before_is_replaced(tiny: Profile, tmp_path: Path) -> None:
    table = Artifact("table1", "Numbers", (Cell("SemiAnAgg", OURS),))
    for accuracy in (0.5, 0.75):
        write_all(tmp_path, [table], evidence_of(tiny, {OURS: [record(accuracy)]}))
    text = (tmp_path / "table1.md").read_text("utf-8")
    assert "75.0 (1 seed" in text and "50.0 (1 seed" not in text
