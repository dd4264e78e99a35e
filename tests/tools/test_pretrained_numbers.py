"""The numbers of docs/pretrained.md are those of the records, and say what they say."""

from __future__ import annotations

from pathlib import Path

from benchmarks.pretrained import config_of, overrides_of, read_records, tables

from fedsemi.config.experiment import load_config

ROOT = Path(__file__).parents[2]


def test_the_page_shows_the_records_as_they_are():
    records = read_records(ROOT / "benchmarks" / "pretrained.jsonl")
    page = (ROOT / "docs" / "pretrained.md").read_text("utf-8")
    shown = page.split("<!-- numbers -->\n")[1].split("\n<!-- end -->")[0]
    assert shown.strip() == tables(records)


def test_the_records_are_of_the_config_that_is_shipped():
    for record in read_records(ROOT / "benchmarks" / "pretrained.jsonl"):
        overrides = overrides_of(record["arm"], record["seed"], record["set"])
        config = load_config(config_of(record["config"]), overrides)
        assert config.sha256 == record["config_sha256"]


def test_a_table_has_means_gains_by_seed_and_who_is_right():
    def record(arm, seed, score, right=None):
        return {
            "config": "a-set",
            "arm": arm,
            "seed": seed,
            "set": ["a=1"],
            "accuracy": 0.5,
            "balanced_accuracy": score,
            "auc": 0.9,
            "pseudo_labels": 0 if right is None else 10,
            "pseudo_label_accuracy": right,
        }

    text = tables(
        [
            record("labels", 1, 0.30),
            record("labels", 2, 0.40),
            record("semianagg", 1, 0.28, 0.8),
            record("semianagg", 2, 0.43, 0.9),
        ]
    )
    assert "`pretrained/a-set` with `a=1`:" in text
    assert "| 50.0 ± 0.0 | 35.0 ± 7.1 | 90.0 ± 0.0 |  |  |  |" in text
    assert "| +0.0, +0.0 | -2.0, +3.0 | 85 % |" in text
