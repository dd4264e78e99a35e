"""Q10, worked by hand."""

from __future__ import annotations

import pytest
from tests.evidence.by_hand import Scores, answer, evidence_of, record_of, svhn

from fedsemi.evidence.catalogue import setting
from fedsemi.evidence.jobs import job_of
from fedsemi.evidence.profiles import Profile
from fedsemi.evidence.questions import MAIN
from fedsemi.evidence.results import Evidence

FIVE, TEN = [0.80, 0.81, 0.82, 0.81, 0.80], [0.8, 0.81] * 5


def _scores(lead: float, with_two: float) -> Scores:
    """Let balanced softmax be ahead by so much, and by so much with two holders."""
    scores = svhn(
        uniform_balanced=[*FIVE], uniform_plain=[each - lead for each in FIVE]
    )
    for holders, ahead in ((1, lead), (2, with_two)):
        place = MAIN | {"rare.holders": holders}
        scores[setting("mnist", "uniform-balanced", **place)] = [*TEN]
        plain = [each - ahead for each in TEN]
        scores[setting("mnist", "uniform-plain", **place)] = [*plain]
    return scores


def test_it_is_recommended_if_it_helps_wherever_all_of_a_network_learns(
    medium: Profile,
) -> None:
    found = answer("q10", evidence_of(medium, _scores(0.02, 0.01)))
    assert (
        found.finding == "recommended"
    )  # the encoder, which was not run, is beside it
    rows = {what: by_running for what, _, _, by_running, *_ in found.rows}
    assert rows["Balanced − plain, SVHN"].startswith("+2.00 (")
    assert rows["Balanced − plain, MNIST, 2 holders"].startswith("+1.00 (")
    assert [part.word for part in found.parts] == [
        "Yes",
        "Yes",
        "Yes",
        "Open",
        "Open",
        "So",
    ]


def test_one_tie_speaks_against_it_by_name(medium: Profile) -> None:
    found = answer("q10", evidence_of(medium, _scores(0.02, 0.0)))
    assert found.finding == (
        "not recommended, because of Balanced − plain, MNIST, 2 holders"
    )


def test_the_part_of_the_gap_is_told_by_both_scores(medium: Profile) -> None:
    scores = svhn(uniform_balanced=[0.80], warm_up=[0.70], upper=[0.90])
    told = answer("q10", evidence_of(medium, scores, lead=0.05)).text[1]
    assert told.startswith("On SVHN balanced pseudo-labels close 50 % of the gap")
    assert "by the running mean balanced pseudo-labels close 50 % of the gap" in told


def test_the_running_mean_decides(medium: Profile) -> None:
    """By the global model it is ahead, by the running mean as far behind."""
    records = {}
    for each, values in _scores(0.02, 0.02).items():
        behind = -0.04 if each.arm == "uniform-balanced" else 0.0
        for seed, value in enumerate(values, start=1):
            assert value is not None
            job = job_of(each, seed, medium)
            records[job.key] = record_of(job, value, lead=behind)
    found = answer("q10", Evidence(medium, 1, records))
    assert found.finding.startswith("not recommended, because of Balanced − plain, MN")
    first = found.parts[0]
    assert first.word == "No" and "the opposite by the global model" in first.told


@pytest.mark.parametrize(
    ("dataset", "same"),
    [
        ("mnist", "uniform-plain"),
        ("svhn", "uniform-plain"),
        ("isic18", "uniform-balanced"),
    ],
)
def test_equal_shares_of_a_profile_are_one_of_both_arms(
    medium: Profile, dataset: str, same: str
) -> None:
    arms = ("uniform", "uniform-plain", "uniform-balanced")
    keys = {arm: job_of(setting(dataset, arm), 1, medium).key for arm in arms}
    assert keys["uniform"] == keys[same]
    assert len(set(keys.values())) == 2
