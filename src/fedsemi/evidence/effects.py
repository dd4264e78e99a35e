"""An effect: a paired difference over seeds, and what docs/questions.md calls it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from fedsemi.evidence.catalogue import Setting, measure_of
from fedsemi.evidence.layout import BOUNDS
from fedsemi.evidence.numbers import points, short
from fedsemi.evidence.results import Evidence
from fedsemi.evidence.stats import (
    NOTHING,
    SMALL,
    UNDECIDED,
    Paired,
    seeds_for,
)
from fedsemi.evidence.stopping import WORTH, most_seeds

_ENOUGH = 5
"""Seeds from which a standard deviation is more than a guess."""
_POWER = 0.8
GLOBAL, RUNNING = "accuracy", "running_mean.accuracy"
SCORES = {GLOBAL: "global model", RUNNING: "running mean"}
"""What is tested, by what it is called; the first one decides unless a question says
otherwise. On some data sets balanced accuracy stands for accuracy."""
METRICS = {"accuracy": "accuracy", "auc": "AUC"}
"""What stands beside balanced accuracy where that decides: a model can buy it by
calling more images rare, and then it is worth what the others say that it costs."""
HEAD = ("difference", "seeds", *SCORES.values(), "finding", f"seeds for ±{WORTH}")


@dataclass(frozen=True)
class Effect:
    """One difference in points of accuracy, by both scores."""

    what: str
    tests: Mapping[str, Paired | None]
    planned: int
    """Seeds at which the question is answered; before, a finding is preliminary."""
    bound: bool = False
    """Whether it is the distance to a bound."""
    by: str = GLOBAL
    """The score that decides."""
    most: int = 0
    """Seeds to which it goes on as long as an interval is too wide; 0 if it ended.

    Only the width of that interval ends it, so a lead stands; that nothing worth having
    is there is said when it has ended.
    """
    metrics: Mapping[str, Paired] = field(default_factory=dict)
    """The same by other metrics, where balanced accuracy decides."""

    @property
    def test(self) -> Paired | None:
        """The test by the score that decides."""
        return self.tests[self.by]

    @property
    def second(self) -> tuple[str, Paired | None]:
        """The other score: what it is called, and its test."""
        other = RUNNING if self.by == GLOBAL else GLOBAL
        return SCORES[other], self.tests.get(other)

    @property
    def seeds(self) -> int:
        """How many seeds both sides have."""
        return 0 if self.test is None else self.test.n

    @property
    def progress(self) -> str:
        """Say how many seeds there are, and of how many if some are missing."""
        if self.seeds < self.planned:
            return f"{self.seeds} of {self.planned} seeds so far"
        if self.seeds < self.most:
            return f"{self.seeds} of at most {self.most} seeds"
        return f"{self.seeds} seed{'' if self.seeds == 1 else 's'}"

    @property
    def finding(self) -> str:
        """Say what is decided by the rules that were written down before.

        A lead that the other score does not share says so.
        """
        lead = self.test is not None and self.test.side
        return f"{self._found}, {self.beside}" if lead and self.beside else self._found

    @property
    def beside(self) -> str:
        """Say what the other score and metrics say if it is something else."""
        return ", ".join(filter(None, (self.by_score, self.by_metric)))

    @property
    def by_metric(self) -> str:
        """Name the metrics by which a lead is a loss, or that decide a tie."""
        if against := self.traded:
            return f"the opposite by {' and '.join(against)}"
        if self.test is None or self.test.side:
            return ""
        other = [(name, test) for name, test in self.metrics.items() if test.side]
        return ", ".join(f"by {name} {short(test)}" for name, test in other)

    @property
    def traded(self) -> list[str]:
        """Name the metrics that lose what this one gains, or gain what it loses."""
        side = 0 if self.test is None else self.test.side
        return [name for name, test in self.metrics.items() if side * test.side < 0]

    @property
    def by_score(self) -> str:
        """Say what the other score says if it lies on another side of zero."""
        name, second = self.second
        if self.test is None or second is None or self.test.side == second.side:
            return ""
        if not self.test.side:
            return f"by the {name} {short(second)}"
        return f"{'the opposite' if second.side else 'not'} by the {name}"

    @property
    def _found(self) -> str:
        return self._finding(self.test)

    def _finding(self, test: Paired | None) -> str:
        """Say what a test decides, and that it is early if it is."""
        if test is None:
            return "not run"
        found = test.finding(WORTH)
        if 1 < test.n < self.planned:
            return preliminary(found)
        early = test.n < self.most and found.endswith((NOTHING, SMALL))
        return f"{found} so far" if early else found

    @property
    def hangs_on(self) -> tuple[int, ...]:
        """Number the seeds without each of which it would be told otherwise."""
        if self.test is None or self.test.n < _ENOUGH:
            return ()
        return self.test.turned_without(WORTH)

    @property
    def seeds_needed(self) -> int | None:
        """How many seeds an interval of ±WORTH takes at the observed deviation."""
        if self.test is None or self.test.sd is None:
            return None
        return seeds_for(self.test.sd, WORTH)

    @property
    def sentence(self) -> str:
        """Say the effect, what it decides, and what the other score says."""
        if self.test is None:
            return f"{self.what}: not run yet ({self.progress})."
        text = f"{self.what}: {points(self.test, self.progress)}, {self._found}"
        for seed in self.hangs_on[:1]:
            left = short(self.test.without(seed))
            text += f"; without seed {seed} it would be {left}"
        name, second = self.second
        if second is None:
            return f"{text}."
        other = f"{points(second)}, {self._finding(second)}"
        return f"{text}; by the {name} {other}."

    @property
    def outlook(self) -> str:
        """Say how many seeds are missing, for a narrow interval and for an answer."""
        needed = self.seeds_needed
        if self.test is None or self.test.sd is None or needed is None:
            return ""
        told = []
        if needed > self.seeds:
            more = needed - self.seeds
            told.append(
                f"an interval of ±{WORTH} points takes about {needed}, {more} more"
            )
        sure = seeds_for(self.test.sd, WORTH, _POWER)
        if self.test.finding(WORTH) == UNDECIDED and sure is not None:
            told.append(
                "to show nothing worth having, if nothing is there, takes about "
                f"{sure} (power {100 * _POWER:.0f} %)"
            )
        if not told:
            return ""
        rough = "" if self.seeds >= _ENOUGH else ", rough figures from so few"
        return (
            f"{self.what}, seeds at the observed standard deviation of "
            f"{self.test.sd:.2f}: {'; '.join(told)}{rough}."
        )

    @property
    def row(self) -> tuple[str, ...]:
        """Write the effect as a row of a table."""
        found = [self.tests.get(score) for score in SCORES]
        numbers = ["–" if each is None else short(each) for each in found]
        needed = "–" if self.seeds_needed is None else str(self.seeds_needed)
        return (self.what, self.progress, *numbers, self.finding_by_seed, needed)

    @property
    def finding_by_seed(self) -> str:
        """Say what is found, and without which seed it would not be."""
        rest = [f", not without seed {seed}" for seed in self.hangs_on[:1]]
        return "".join([self.finding, *rest])

    @property
    def others(self) -> str:
        """Write the effect by other metrics; nothing where accuracy decides."""
        return ", ".join(f"{name} {short(test)}" for name, test in self.metrics.items())


def effect_of(
    evidence: Evidence,
    what: str,
    ours: Setting,
    other: Setting,
    planned: int,
    by: str = GLOBAL,
) -> Effect:
    """Compare two settings by both scores."""
    tests = {
        score: evidence.paired(ours, other, measured(score, ours.dataset))
        for score in SCORES
    }
    most = most_seeds(evidence, ours, other)
    metrics = other_metrics(ours.dataset, by, partial(evidence.paired, ours, other))
    return Effect(what, tests, planned, other.arm in BOUNDS, by, most, metrics)


def other_metrics(
    dataset: str, by: str, compare: Callable[[str], Paired | None]
) -> dict[str, Paired]:
    """Compare by what does not decide, where classes are not balanced."""
    if measure_of(dataset) == "accuracy":
        return {}
    tests = {
        name: compare(by.replace("accuracy", metric))
        for metric, name in METRICS.items()
    }
    return {name: test for name, test in tests.items() if test is not None}


def measured(score: str, dataset: str) -> str:
    """Return what stands for a score on a data set.

    >>> measured("running_mean.accuracy", "isic18")
    'running_mean.balanced_accuracy'
    """
    return score.replace("accuracy", measure_of(dataset))


def table_of(
    effects: Sequence[Effect],
) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
    """Write a head, and a row for each effect that was measured.

    Other metrics have a column where any effect has some.
    """
    ran = [each for each in effects if each.test is not None]
    if not any(each.metrics for each in ran):
        return HEAD, tuple(each.row for each in ran)
    rows = tuple((*each.row, each.others or "–") for each in ran)
    return (*HEAD, "by other metrics"), rows


def said_of(effects: Sequence[Effect]) -> str:
    """Say how many comparisons there are, and how many are missing."""
    ran = sum(each.test is not None for each in effects)
    missing = len(effects) - ran
    rest = f", {missing} more not run yet" if missing else ""
    text = f"{ran} comparison{'' if ran == 1 else 's'} by each score{rest}."
    if ran > 1:
        text += " Intervals are not corrected for their number."
    if any(each.metrics for each in effects):
        text += " On ISIC-18 points are of balanced accuracy."
    if any(each.hangs_on for each in effects):
        text += " Not without a seed: the others alone would decide otherwise."
    return text


def preliminary(finding: str) -> str:
    """Take back what fewer seeds than planned cannot decide.

    >>> preliminary("decided, above zero"), preliminary("undecided")
    ('too early, above zero so far', 'undecided so far')
    """
    start, found, rest = finding.partition("decided, ")
    return f"too early, {rest} so far" if found and not start else f"{finding} so far"
