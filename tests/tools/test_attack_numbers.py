"""The tables of attacks are those of the records."""

from __future__ import annotations

import pytest
from benchmarks import attacks, defenses, demo
from benchmarks.common import ROOT
from benchmarks.numbers import read_records, shown_in

OUTCOME = {
    "suite": defenses.HELD_OUT,
    "seed": 1,
    "share": None,
    "dropped": 0,
}


def test_the_page_of_attacks_shows_the_records_as_they_are():
    found = attacks.complete(attacks.recorded())
    page = attacks.page(found, attacks.lonely_cases())
    assert attacks.PAGE.read_text("utf-8") == page


@pytest.mark.parametrize(
    ("page", "name", "table"),
    [
        ("robustness.md", "held-out", defenses.held_out_table),
        ("privacy.md", "attacks", defenses.masked_table),
    ],
)
def test_a_page_shows_what_defenses_left(page, name, table):
    records = read_records(defenses.RECORDS)
    assert shown_in(ROOT / "docs" / page, name) == table(records)


def test_points_are_lost_against_the_same_aggregation_without_attack_or_guard():
    suite = defenses.SUITES[defenses.HELD_OUT]
    records = [
        {
            **OUTCOME,
            "aggregation": aggregation,
            "attack": attack,
            "guard": guard,
            "balanced_accuracy": 0.6 if attack == "none" else 0.5 + 0.06 * guard,
        }
        for aggregation in suite.aggregations
        for attack in ("none", *suite.attacks)
        for guard in (False, True)
    ]
    records[-1]["balanced_accuracy"] = 0.54
    lines = defenses.held_out_table(records).splitlines()
    assert lines[0].startswith("| attack | semianagg (60.0%) | fedavg (60.0%) |")
    assert lines[2].startswith("| none | 0.0, 0.0 | 0.0, 0.0 |")
    assert lines[-1].startswith("| trigger | 10.0, 4.0 |")
    assert lines[-1].endswith("| 10.0, **6.0** |")


def test_the_page_shows_what_was_tried_for_the_demo():
    assert shown_in(demo.PAGE, "demo") == demo.table(read_records(demo.RECORDS))
