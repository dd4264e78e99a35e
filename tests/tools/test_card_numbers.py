"""The tables of docs/methods.md are those of the records."""

from __future__ import annotations

from benchmarks.cards import RECORDS, experiment_of, runs, tables
from benchmarks.numbers import read_records


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
