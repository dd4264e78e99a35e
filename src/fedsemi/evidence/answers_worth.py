"""Q5: do contributions track what is lost without a site?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from fedsemi.evidence.answer import Answer
from fedsemi.evidence.catalogue import Setting
from fedsemi.evidence.effects import SCORES, preliminary
from fedsemi.evidence.interval_plot import ends
from fedsemi.evidence.numbers import interval, short, signed
from fedsemi.evidence.questions import QUESTIONS
from fedsemi.evidence.records import Record, score
from fedsemi.evidence.results import Evidence
from fedsemi.evidence.shares import lonely_site
from fedsemi.evidence.short import ALSO, OPEN, Part, by_interval
from fedsemi.evidence.stats import Paired, paired
from fedsemi.report.ranks import spearman

_SEEDS = 5
_HEAD = (
    "seed",
    *(f"rank correlation, {name}" for name in SCORES.values()),
    "share of the lonely site (place)",
    *(f"lost without it, {name} (place)" for name in SCORES.values()),
)


@dataclass(frozen=True)
class Worth:
    """What a seed says of its sites."""

    seed: int
    metric: str
    rho: float | None
    rest: float | None
    """The same without the lonely site."""
    share: float
    share_place: int
    lost: float
    lost_place: int
    """Places count from one; points of accuracy are lost."""


def worth(evidence: Evidence) -> Answer:
    """Q5: rank correlations of contributions and leave-one-out losses."""
    whole, *rest = QUESTIONS["q5"].settings
    every = {
        metric: [
            found
            for seed, record in evidence.found(whole).items()
            if (found := _worth(evidence, rest, seed, record, metric))
        ]
        for metric in SCORES
    }
    tests = {metric: _test(found) for metric, found in every.items()}
    main, seeds = tests["accuracy"], every["accuracy"]
    both = sum(each.share_place == each.lost_place == 1 for each in seeds)
    said = [_said(SCORES[metric], test) for metric, test in tests.items() if test]
    first = f"the lonely site is first in both in {both} of {len(seeds)} seeds"
    said.append(f"{first.capitalize()}.")
    rests = [_without_it(found, SCORES[metric]) for metric, found in every.items()]
    said += [each for each in rests if each]
    missing = f"No seed has all nine runs yet (0 of {_SEEDS} seeds so far)."
    return Answer(
        "q5",
        "Do contributions track worth?",
        f"rank correlation {_finding(main)}; {first}" if seeds else _finding(main),
        tuple(said) if seeds else (missing,),
        _HEAD,
        tuple(_rows(list(every.values()))),
        "Spearman's correlation over nine sites in each seed, then a mean over seeds "
        "with a 95 % interval by Student's t. What is lost is noisy: each entry is the "
        "difference of two runs. What an answer is worth at the end of training, by "
        "Shapley values too, is in docs/seeing.md.",
        tuple(_plot(tests, every)) if seeds else (),
        _parts(main, first),
    )


def _parts(test: Paired | None, first: str) -> tuple[Part, ...]:
    """Answer by the order of all sites; nothing was to decide by the lonely one."""
    if test is None:
        return (Part(OPEN, "not run", "not run"),)
    what = "rank correlation over all sites"
    order, brief = f"{what} {short(test)}", f"{what} {signed(test.mean)}"
    if test.n < _SEEDS:
        return Part(OPEN, f"{order}, so far", brief), Part(ALSO, first)
    return Part(by_interval(test, 0.0), order, brief), Part(ALSO, first)


def _worth(
    evidence: Evidence, rest: list[Setting], seed: int, whole: Record, metric: str
) -> Worth | None:
    """Rank the sites of a seed; None if one of the runs is missing."""
    full = score(whole, metric)
    without = {
        str(each.without): evidence.scores(each, metric).get(seed) for each in rest
    }
    if full is None or None in without.values():
        return None
    lost = {id: full - value for id, value in without.items() if value is not None}
    shares = {id: whole["clients"]["mean_contribution"][id] for id in lost}
    lonely = lonely_site(whole["owns"])
    rest_of = [id for id in lost if id != lonely]
    return Worth(
        seed,
        metric,
        _correlation(shares, lost, list(lost)),
        _correlation(shares, lost, rest_of),
        shares[lonely],
        1 + sum(value > shares[lonely] for value in shares.values()),
        lost[lonely],
        1 + sum(value > lost[lonely] for value in lost.values()),
    )


def _correlation(
    shares: Mapping[str, float], lost: Mapping[str, float], sites: Sequence[str]
) -> float | None:
    """Correlate the ranks of some sites' shares with those of what they bring."""
    return spearman(
        np.array([shares[id] for id in sites]), np.array([lost[id] for id in sites])
    )


def _rows(every: list[list[Worth]]) -> list[tuple[str, ...]]:
    """Write a row for each seed, with both scores beside each other."""
    rows = []
    for both in zip(*every, strict=False):
        rhos = ["–" if each.rho is None else signed(each.rho) for each in both]
        lost = [f"{signed(each.lost)} ({each.lost_place})" for each in both]
        share = f"{both[0].share:.3f} ({both[0].share_place})"
        rows.append((str(both[0].seed), *rhos, share, *lost))
    return rows


def _test(found: list[Worth]) -> Paired | None:
    """Test the mean correlation against zero."""
    return _above_zero([each.rho for each in found])


def _above_zero(rhos: Sequence[float | None]) -> Paired | None:
    values = [each for each in rhos if each is not None]
    return paired(values, [0.0] * len(values)) if values else None


def _without_it(found: Sequence[Worth], name: str) -> str:
    """Say how the other sites are ordered; nothing if no seed tells."""
    test = _above_zero([each.rest for each in found])
    if test is None:
        return ""
    return (
        f"Without the lonely site, by the {name}: {short(test)} (asked when the "
        "records had been seen)."
    )


def _finding(test: Paired | None) -> str:
    if test is None:
        return "not run"
    if test.low is None or test.high is None:
        return "one seed only"
    found = "undecided"
    if test.low > 0 or test.high < 0:
        found = f"decided, {'above' if test.low > 0 else 'below'} zero"
    return found if test.n >= _SEEDS else preliminary(found)


def _said(name: str, test: Paired) -> str:
    seeds = f"{test.n} seeds"
    if test.n < _SEEDS:
        seeds = f"{test.n} of {_SEEDS} seeds so far"
    inside = seeds if test.low is None else f"95 % interval {interval(test)}, {seeds}"
    return (
        f"Mean rank correlation of contribution and leave-one-out loss by the {name}: "
        f"{signed(test.mean)} ({inside}); {_finding(test)}."
    )


def _plot(
    tests: dict[str, Paired | None], every: dict[str, list[Worth]]
) -> list[dict[str, object]]:
    rows = [
        {"name": f"seed {each.seed}", "group": SCORES[m], "value": round(each.rho, 3)}
        for m, found in every.items()
        for each in found
        if each.rho is not None
    ]
    for metric, test in tests.items():
        if test is not None:
            rows.append({"name": "mean", "group": SCORES[metric], **ends(test)})
    note = "Spearman's rank correlation over nine sites; the mean with its interval."
    title = "Contribution and leave-one-out loss"
    plot = {"kind": "intervals", "title": title, "note": note}
    return [plot | {"label": "rank correlation", "rows": rows}]
