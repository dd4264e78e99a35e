"""What lies in a results folder."""

from __future__ import annotations

from pathlib import Path

from tests.evidence.made import evidence_of, record

from fedsemi.evidence.catalogue import Artifact, Cell, Chart, setting
from fedsemi.evidence.output import write_all
from fedsemi.evidence.profiles import Profile

OURS = setting("isic18", "semianagg")


def test_tables_are_text_and_numbers_figures_text_and_all_are_on_one_page(
    tiny: Profile, tmp_path: Path
) -> None:
    table = Artifact("table1", "Numbers", (Cell("SemiAnAgg", OURS),))
    figure = Artifact("fig1", "Curves", charts=(Chart("curves", "A", (OURS,)),))
    evidence = evidence_of(tiny, {OURS: [record(0.5)]})
    page = write_all(tmp_path / "new" / "folder", [table, figure], evidence)
    names = sorted(path.name for path in page.parent.iterdir())
    assert names == ["fig1.md", "index.html", "table1.csv", "table1.md"]
    text = page.read_text("utf-8")
    assert "Numbers" in text and "Curves" in text and "50.0 (1 seed, smoke)" in text
    assert (page.parent / "table1.csv").read_text("utf-8").count("\n") == 2


def test_what_was_written_before_is_replaced(tiny: Profile, tmp_path: Path) -> None:
    table = Artifact("table1", "Numbers", (Cell("SemiAnAgg", OURS),))
    for accuracy in (0.5, 0.75):
        write_all(tmp_path, [table], evidence_of(tiny, {OURS: [record(accuracy)]}))
    text = (tmp_path / "table1.md").read_text("utf-8")
    assert "75.0 (1 seed" in text and "50.0 (1 seed" not in text
