"""What attacks cost where there are more held-out labels."""

from __future__ import annotations

from benchmarks import defenses
from benchmarks.numbers import read_records

OUTCOME = {"seed": 1, "share": None, "dropped": 0}


def test_the_records_are_of_the_suites_as_they_are():
    found = {
        (r["suite"], r["outcome"]["seed"]): r["config_sha256"]
        for r in read_records(defenses.RECORDS)
    }
    assert found == {
        (name, seed): suite.experiment(seed).sha256
        for name, suite in defenses.SUITES.items()
        for seed in suite.seeds
    }


def test_points_are_lost_against_the_same_aggregation_without_attack_or_guard():
    suite = defenses.SUITES[defenses.HELD_OUT]
    records = [
        {
            "suite": defenses.HELD_OUT,
            "outcome": OUTCOME
            | {"aggregation": aggregation, "attack": attack, "guard": guard}
            | {"balanced_accuracy": 0.6 if attack == "none" else 0.5 + 0.06 * guard},
        }
        for aggregation in suite.aggregations
        for attack in ("none", *suite.attacks)
        for guard in (False, True)
    ]
    records[-1]["outcome"]["balanced_accuracy"] = 0.54
    lines = defenses.held_out_table(records).splitlines()
    assert lines[0].startswith("| attack | semianagg (60.0%) | fedavg (60.0%) |")
    assert lines[2].startswith("| none | 0.0, 0.0 | 0.0, 0.0 |")
    assert lines[-1].startswith("| trigger | 10.0, 4.0 |")
    assert lines[-1].endswith("| 10.0, **6.0** |")
