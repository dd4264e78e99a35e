"""The tables of docs/methods.md are those of the records."""

from __future__ import annotations

from benchmarks.cards import PAGE, RECORDS, experiment_of, runs, tables
from benchmarks.numbers import add_record, read_records, shown_in, write_into


def test_the_page_shows_the_records_as_they_are():
    assert shown_in(PAGE, "cards") == tables(read_records(RECORDS))


def test_every_run_has_a_record_of_the_config_that_is_shipped():
    found = read_records(RECORDS)
    for seed in sorted({record["seed"] for record in found}):
        own = [record for record in found if record["seed"] == seed]
        assert [(r["config"], r["set"], r["alone"]) for r in own] == runs()
        for record, run in zip(own, runs(), strict=True):
            assert experiment_of(*run, seed).sha256 == record["config_sha256"]


def test_a_table_has_a_method_beside_labels_alone_for_each_seed():
    def record(config, alone, accuracy):
        return {"config": config, "set": "", "alone": alone, "accuracy": accuracy}

    text = tables(
        [
            record("sage", False, 0.887),
            record("sage", False, 0.9),
            record("sage", True, 0.5),
            record("fedmatch", True, 0.25),
        ]
    )
    assert "| `sage` | 88.7 · 90.0 | 50.0 |" in text
    assert "| `fedmatch` | not run | 25.0, with `local.lr_labeled=0.1` |" in text


def test_numbers_are_written_into_their_part_of_a_page(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("before\n<!-- numbers: a -->\nold\n<!-- end -->\nafter\n")
    write_into(page, "a", "| new |")
    assert page.read_text() == (
        "before\n<!-- numbers: a -->\n\n| new |\n\n<!-- end -->\nafter\n"
    )
    assert shown_in(page, "a") == "| new |"


def test_records_are_lines_and_none_without_a_file(tmp_path):
    path = tmp_path / "records.jsonl"
    assert read_records(path) == []
    add_record(path, {"a": 1})
    add_record(path, {"a": 2})
    assert read_records(path) == [{"a": 1}, {"a": 2}]
