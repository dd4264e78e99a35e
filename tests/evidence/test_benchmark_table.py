"""A benchmark in words: cells, what is decided, and what is said beside it."""

from __future__ import annotations

from typing import Any

import pytest
from tests.evidence.made import evidence_of, record

from fedsemi.evidence.benchmark import Benchmark
from fedsemi.evidence.benchmark_table import (
    as_csv,
    as_markdown,
    caption,
    cells_of,
    findings,
    head_of,
)
from fedsemi.evidence.profiles import Profile
from fedsemi.evidence.results import Evidence
from fedsemi.evidence.standing import standing

LC = Benchmark("LC", "svhn", ("lower", "uniform", "sage", "semianagg"), "uniform")


def ran(accuracy: float) -> dict[str, Any]:
    facts = {"seconds": 900.0, "cpu_seconds": 90.0, "bytes_sent": 2_400_000}
    owns = {"0": {"num_labeled": 9, "num_unlabeled": 0}}
    config = {
        "local": {"loss": "cross-entropy"},
        "model": {"name": "resnet8", "width": 16},
        "stages": [{"method": "sage", "rounds": 3}],
        "data": {"image_size": 16},
        "evaluation": {"every": 3},
        "guard": {"enabled": False},
    }
    facts |= {"config": config, "owns": owns, "labeled_share": 0.5, "seed": 1}
    return record(accuracy, dataset="svhn", **facts)


@pytest.fixture
def evidence(medium: Profile) -> Evidence:
    return evidence_of(
        medium,
        {
            LC.setting("lower"): [ran(0.5), ran(0.5), ran(0.5)],
            LC.setting("uniform"): [ran(0.60), ran(0.62), ran(0.61)],
            LC.setting("sage"): [ran(0.70), ran(0.71), ran(0.72)],
            LC.setting("semianagg"): [ran(0.6), ran(0.63), ran(0.61)],
        },
    )


def test_a_row_has_its_interval_difference_rank_and_cost(evidence: Evidence) -> None:
    found = standing(LC, evidence)
    lines = {
        cells[0]: cells for row in found.rows if (cells := cells_of(row, "uniform"))
    }
    sage = dict(zip(head_of(LC), lines["SAGE †"], strict=True))
    # t(0.975, 2) = 4.303; standard deviation 1 over √3 seeds.
    assert sage["Acc"] == "71.0 ± 2.5" and sage["seeds"] == "3"
    assert sage["rank"] == "1.00" and sage["CPU min"] == "1.5"
    assert sage["MB sent"] == "2"
    assert lines["Uniform weights (control)"][4] == "reference"


def test_a_method_made_for_other_cards_is_marked_and_the_mark_explained(
    evidence: Evidence,
) -> None:
    said = caption(standing(LC, evidence), evidence)
    assert "†: made for another card than LC" in said


def test_a_cost_that_not_all_seeds_have_is_told(
    evidence: Evidence, medium: Profile
) -> None:
    assert "those whose record" not in caption(standing(LC, evidence), evidence)
    old = ran(0.7)
    del old["cpu_seconds"]
    some = evidence_of(medium, {LC.setting("sage"): [ran(0.7), old]})
    said = caption(standing(LC, some), some)
    assert "after the warm-up (of those whose record has them)" in said


def test_the_cost_of_labels_alone_is_told_to_be_of_all_rounds(
    evidence: Evidence, medium: Profile
) -> None:
    assert "cost of all their rounds" in caption(standing(LC, evidence), evidence)
    without = evidence_of(medium, {LC.setting("uniform"): [ran(0.6)]})
    assert "all their rounds" not in caption(standing(LC, without), without)


def test_findings_name_who_is_ahead_and_what_so_few_seeds_decide(
    evidence: Evidence,
) -> None:
    said = " ".join(findings(standing(LC, evidence)))
    assert "ahead: SAGE. undecided: SemiAnAgg, paper's rule" in said
    assert "Nemenyi" in said and "on one data set" in said


def test_what_was_not_run_has_dashes(medium: Profile) -> None:
    found = standing(LC, evidence_of(medium, {LC.setting("sage"): [ran(0.7)]}))
    assert cells_of(found.rows[0], "uniform")[1:] == ("0", *["–"] * 6)
    assert "one decides nothing" not in " ".join(findings(found))


def test_markdown_has_table_picture_and_setting(evidence: Evidence) -> None:
    text = as_markdown(standing(LC, evidence), evidence, "ranks.svg")
    assert text.startswith("| method | seeds | Acc |")
    assert "![Average ranks](ranks.svg)" in text
    assert "- LC: all of a labeled client, none elsewhere." in text
    assert "Guard off" in text


def test_csv_has_numbers_unrounded(evidence: Evidence) -> None:
    head, *lines = as_csv(standing(LC, evidence)).splitlines()
    assert head.startswith("card,dataset,method,made_for_card,seeds,accuracy")
    (sage,) = [line for line in lines if ",sage," in line]
    assert sage.startswith("LC,svhn,sage,False,3,71.0,2.48413")
