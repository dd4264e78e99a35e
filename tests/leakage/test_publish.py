"""The page on what sites reveal says what the records say, written by a command."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import fedsemi
from fedsemi.leakage.publish import FOLDER, PAGE, publish, scale, write_tables
from fedsemi.leakage.records import read_records
from fedsemi.leakage.tables import lines_of
from fedsemi.text.leaks import known_leak

from .made import two_seeds

R = "statistics.diversity"
ROOT = Path(fedsemi.__file__).parents[2]


def test_what_is_published_is_what_the_records_say(tmp_path: Path) -> None:
    (tmp_path / PAGE).parent.mkdir()
    shutil.copy(ROOT / PAGE, tmp_path / PAGE)
    shutil.copytree(ROOT / FOLDER, tmp_path / FOLDER)
    for made in ("leak.md", "leak.csv"):
        (tmp_path / FOLDER / made).unlink()
    publish(tmp_path)
    for path in [tmp_path / PAGE, *(tmp_path / FOLDER).iterdir()]:
        name = path.relative_to(tmp_path)
        assert path.read_bytes() == (ROOT / name).read_bytes(), f"{name}: make results"


@pytest.mark.parametrize(
    ("field", "thing"), [("weights", "model"), (R, R)], ids=["model", "diversities"]
)
def test_what_sites_are_told_to_leak_is_what_the_records_say(
    field: str, thing: str
) -> None:
    said = known_leak(field)
    records = [r for r in read_records(ROOT / FOLDER) if r.method == "semianagg"]
    for question, form in (("classes", "AUC {:.2f};"), ("shares", "histogram: {:.0%}")):
        (line,) = [
            each
            for each in lines_of(records, question)  # type: ignore[arg-type]
            if each.thing == thing
        ]
        wanted = form.format(line.forms["plain"].value.mean).replace("%", " %")
        assert wanted in said, "mend src/fedsemi/text/leaks.toml"


def test_a_folder_has_scale_tables_and_what_they_mean(tmp_path: Path) -> None:
    write_tables(tmp_path, two_seeds())
    text = (tmp_path / "leak.md").read_text()
    assert text.startswith(
        "# What a curious server learns\n\ndigits, 400 training images"
    )
    assert "| 0.90 ± 0.13 |" in text and "- semianagg: a server that sees" in text
    assert (tmp_path / "leak.csv").read_text().count("\n") == 9


def test_the_scale_says_how_many_seeds_there_were() -> None:
    assert "2 seeds, ± is half of the 95 % interval" in scale(two_seeds())
    assert "30 rounds of warm-up and 2 of the method" in scale(two_seeds())
