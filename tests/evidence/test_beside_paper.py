"""The leads of the paper beside ours, with numbers by hand."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

import pytest
from tests.evidence.made import evidence_of, record

import fedsemi
from fedsemi.evidence.beside_paper import NOTHING, as_markdown, beside, sentence
from fedsemi.evidence.catalogue import Artifact, Cell, Setting, setting
from fedsemi.evidence.profiles import Profile, read_profile
from fedsemi.evidence.records import read_records
from fedsemi.evidence.results import Evidence
from fedsemi.evidence.tables import TABLES

ROOT = Path(fedsemi.__file__).parents[2]
UNRUN = "The paper's own scale has not been run here."
ABOVE, BELOW, NEAR = (0.59, 0.60, 0.61), (0.41, 0.40, 0.39), (0.60, 0.50, 0.40)
"""Seed by seed, beside a rival that has 0.5 with every seed: 9, 10 and 11 points ahead,
as many behind, and 10, 0 and −10."""
RIVAL = (0.5, 0.5, 0.5)
REACH = 2.484
"""Of the interval: t with 2 degrees of freedom 4.303, times 1 / √3."""


def ran(source: Profile, scores: Mapping[Setting, Sequence[float]]) -> Evidence:
    """Give each setting its accuracies; B-Acc is ten points below."""
    records = {
        each: [record(value, value) for value in values]
        for each, values in scores.items()
    }
    return evidence_of(source, records)


def svhn(**scores: Sequence[float]) -> dict[Setting, Sequence[float]]:
    return {setting("svhn", arm): values for arm, values in scores.items()}


def test_a_lead_whose_interval_is_above_zero_holds(medium: Profile) -> None:
    scores = svhn(semianagg=ABOVE, rscfed=RIVAL, uniform=(0.51, 0.52, 0.53))
    (lead,) = beside(ran(medium, scores)).leads
    assert lead.word == "holds"
    assert lead.paper == pytest.approx(91.69 - 81.84)
    assert lead.here.mean == pytest.approx(10)
    assert lead.here.low == pytest.approx(10 - REACH, abs=1e-3)
    assert lead.row == (
        "SVHN, Acc",
        "RSCFed",
        "+9.85",
        "+10.00 (+7.52 to +12.48)",
        "3",
        "+2.00 (−0.48 to +4.48)",
        "holds",
    )


@pytest.mark.parametrize(("ours", "word"), [(BELOW, "reversed"), (NEAR, "open")])
def test_one_below_zero_is_reversed_and_one_around_it_open(
    medium: Profile, ours: Sequence[float], word: str
) -> None:
    (lead,) = beside(ran(medium, svhn(semianagg=ours, rscfed=RIVAL))).leads
    assert lead.word == word
    assert lead.equal is None and lead.row[-2:] == ("–", word)


@pytest.mark.parametrize(("ours", "word"), [(BELOW, "holds"), (ABOVE, "reversed")])
def test_where_the_paper_is_behind_the_order_holds_below_zero(
    medium: Profile, ours: Sequence[float], word: str
) -> None:
    mine, other = setting("svhn", "semianagg"), setting("svhn", "rscfed")
    cells = (Cell("a", mine, paper=80.0), Cell("b", other, paper=81.5))
    evidence = ran(medium, {mine: ours, other: RIVAL})
    found = beside(evidence, [Artifact("table1", "T", cells)])
    (lead,) = found.leads
    assert lead.word == word and lead.row[2] == "−1.50"
    assert found.claimed == ()  # the paper claims no lead there
    assert found.sentence == ""


def test_what_was_not_run_is_not_shown(medium: Profile) -> None:
    nothing = Evidence(medium, 1, {})
    found = beside(nothing)
    assert found.leads == () and found.sentence == ""
    assert len(found.claimed) == 12
    assert as_markdown(nothing) == sentence(nothing) == NOTHING


def test_one_seed_has_no_interval_and_says_nothing(medium: Profile) -> None:
    once = ran(medium, svhn(semianagg=ABOVE[:1], rscfed=RIVAL[:1]))
    assert beside(once).leads == ()


def test_only_tables_that_are_asked_for_are_set_beside(medium: Profile) -> None:
    evidence = ran(medium, svhn(semianagg=ABOVE, rscfed=RIVAL))
    assert beside(evidence, [TABLES["table3"], TABLES["table7"]]).leads == ()
    assert len(beside(evidence, [TABLES["table1"]]).leads) == 1


def test_a_part_of_the_runs_says_of_how_many_leads_it_is(medium: Profile) -> None:
    scores = svhn(semianagg=ABOVE, rscfed=RIVAL, uniform=(0.51, 0.52, 0.53))
    assert beside(ran(medium, scores)).sentence == (
        "Of the paper's 12 leads of SemiAnAgg over RSCFed, IsoFed (our reading) and "
        "CBAFed in Table 1, 1 was run here with two seeds or more; 1 holds here (95 % "
        "intervals), none is reversed and none is open. Over those that hold the mean "
        "lead is +10.00 points, +2.00 for equal shares in SemiAnAgg's place and +9.85 "
        f"in the paper. {UNRUN}"
    )


def test_means_are_of_the_leads_that_hold_and_of_nothing_else(medium: Profile) -> None:
    scores = svhn(
        semianagg=ABOVE,
        uniform=RIVAL,
        rscfed=RIVAL,  # +10, equal shares 0, the paper +9.85
        isofed=(0.57, 0.58, 0.59),  # +2, −8 and +9.21
        cbafed=(0.79, 0.80, 0.81),  # −20 in each seed, so reversed
    )
    told = beside(ran(medium, scores)).sentence
    assert "3 were run here with two seeds or more; 2 hold here" in told
    assert "1 is reversed (SVHN by accuracy: CBAFed −20.00) and none is open." in told
    assert (
        "the mean lead is +6.00 points, −4.00 for equal shares in SemiAnAgg's place "
        "and +9.53 in the paper."
    ) in told


def test_equal_shares_that_lack_a_rival_have_no_mean(medium: Profile) -> None:
    told = beside(ran(medium, svhn(semianagg=ABOVE, rscfed=RIVAL))).sentence
    assert "the mean lead is +10.00 points and +9.85 in the paper." in told
    assert "equal shares" not in told


def test_where_nothing_holds_there_is_no_mean(medium: Profile) -> None:
    told = beside(ran(medium, svhn(semianagg=NEAR, rscfed=RIVAL))).sentence
    assert "none holds here (95 % intervals), none is reversed and 1 is open." in told
    assert "mean" not in told


def test_the_metric_that_decides_stands_beside_accuracy(medium: Profile) -> None:
    ours, rival = setting("isic18", "semianagg"), setting("isic18", "rscfed")
    found = beside(ran(medium, {ours: BELOW, rival: RIVAL}))
    assert "(ISIC-18 by accuracy: RSCFed −10.00; by balanced accuracy −10.00)" in (
        found.sentence
    )
    assert found.note.endswith(
        "SemiAnAgg's leads are: RSCFed −10.00 (−12.48 to −7.52)."
    )


def test_the_ablation_is_told_by_both_metrics(medium: Profile) -> None:
    ours, semi = setting("isic18", "semianagg"), setting("isic18", "fedavg-semi")
    found = beside(ran(medium, {ours: ABOVE, semi: RIVAL}))
    here = "+10.00 (+7.52 to +12.48)"
    assert found.sentence == (
        f"SemiAnAgg − FedAvg-Semi on ISIC-18 (Table 3) is {here} by accuracy (paper "
        f"+4.45; holds) and {here} by balanced accuracy (paper +8.56; holds). {UNRUN}"
    )
    assert [row[:2] for row in found.rows] == [
        ("ISIC-18, Acc", "FedAvg-Semi (Table 3)"),
        ("ISIC-18, B-Acc", "FedAvg-Semi (Table 3)"),
    ]


def test_at_the_papers_scale_it_is_not_called_unrun() -> None:
    scores = svhn(semianagg=ABOVE, rscfed=RIVAL)
    found = beside(ran(read_profile("paper"), scores))
    assert found.sentence and UNRUN not in found.sentence


@pytest.mark.parametrize("page", ["README.md", "docs/results.md"])
def test_what_pages_say_of_leads_is_what_their_intervals_say(page: str) -> None:
    evidence = committed()
    sides = []
    for dataset in ("svhn", "cifar100", "cifar100-lt", "isic18"):
        for rival in ("rscfed", "isofed", "cbafed"):
            both = setting(dataset, "semianagg"), setting(dataset, rival)
            test = evidence.paired(*both, "accuracy")
            assert test is not None and test.low is not None and test.high is not None
            sides.append("+" if test.low > 0 else "−" if test.high < 0 else "0")
    text = (ROOT / page).read_text("utf-8")
    (told,) = re.findall(
        r"^Of the paper's 12 leads .* in Table 1, (\w+) holds? here "
        r"\(95 % intervals\), (\w+) (?:is|are) reversed(?: \(.*\))? "
        r"and (\w+) (?:is|are) open\.",
        text,
        re.MULTILINE,
    )
    counts = [sides.count(side) for side in ("+", "−", "0")]
    assert list(told) == [str(count) if count else "none" for count in counts]


@cache
def committed() -> Evidence:
    """Read the records of `results/medium`."""
    records = read_records(ROOT / "results/medium")
    return Evidence(read_profile("medium"), 1, records)
