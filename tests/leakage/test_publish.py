"""The page on what sites reveal says what the records say, written by a command."""

from __future__ import annotations

from pathlib import Path

from fedsemi.leakage.publish import scale, write_tables

from .made import two_seeds


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
