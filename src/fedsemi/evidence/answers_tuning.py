"""Q7: published methods with a small budget of tuning, against labels alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from statistics import fmean

from fedsemi.evidence.answer import Answer
from fedsemi.evidence.arms import ARMS, TRIED
from fedsemi.evidence.catalogue import measure_of, setting
from fedsemi.evidence.effects import GLOBAL, SCORES, Effect, effect_of, said_of
from fedsemi.evidence.layout import SHORT, titled
from fedsemi.evidence.numbers import short
from fedsemi.evidence.questions import CHOOSING, TUNED
from fedsemi.evidence.results import Evidence
from fedsemi.evidence.short import OPEN, Part, doubted, part_of
from fedsemi.evidence.stats import Paired

_HEAD = (
    "data set",
    "method and setting",
    "seeds",
    "score",
    *(f"less labels only, {name}" for name in SCORES.values()),
    "finding",
    "less labels only, by other metrics",
    f"less labels after the warm-up, {SCORES[GLOBAL]}",
)

_LAST = (
    " The last column was added when the records had been seen, which are those of Q8: "
    "labels only are learned in one stage; labels after the warm-up go on from the "
    "model that methods go on from, as long as they do. CBAFed has its own warm-up."
)


@dataclass(frozen=True)
class _Tried:
    """A method on a data set with the settings that were run, by their arms."""

    dataset: str
    published: str
    scores: Mapping[str, float]
    leads: Mapping[str, Effect]
    """Over labels only, in seeds that both have."""
    others: Mapping[str, Paired | None]
    """Over labels after the warm-up, for arms that begin with the same one."""

    @property
    def judged(self) -> str:
        """The arm that speaks for the method.

        One beside the published one was chosen elsewhere; of several the highest is
        chosen here, the published one of equals.
        """
        others = [arm for arm in self.scores if arm != self.published]
        if len(others) == 1:
            return others[0]
        return max(self.scores, key=lambda arm: self.scores[arm])

    @property
    def how(self) -> str:
        """Say how that one was found."""
        many = len(self.scores)
        if many > 2:
            return f"highest of {many} settings"
        return "as published" if many == 1 else "chosen with other seeds"

    @property
    def lead(self) -> Effect:
        """The lead of the arm that speaks for the method."""
        return self.leads[self.judged]

    @property
    def part(self) -> Part:
        """What is found of the method, with the arm that speaks for it."""
        if not self.scores:
            nothing = f"{ARMS[self.published].title}, {self.where} not run"
            return Part(OPEN, nothing, nothing)
        how = " as published" if len(self.scores) == 1 else ""
        part = part_of(f"{ARMS[self.judged].title}{how}, {self.where}", self.lead)
        return doubted(part, "labels after the warm-up", self.others[self.judged])

    @property
    def where(self) -> str:
        """What the data set is called."""
        return titled(self.dataset)

    @property
    def rows(self) -> list[tuple[str, ...]]:
        """Write a row for each setting."""
        return [
            (
                self.where,
                ARMS[arm].title + (f" ({self.how})" if arm == self.judged else ""),
                str(lead.seeds),
                f"{self.scores[arm]:.1f} {SHORT[measure_of(self.dataset)]}",
                *(_told(test) for test in lead.tests.values()),
                lead.finding_by_seed,
                lead.others or "–",
                _told(self.others[arm]),
            )
            for arm, lead in self.leads.items()
        ]


def tuned(evidence: Evidence) -> Answer:
    """Say of each method how the setting that was chosen stands to labels alone."""
    asked = [
        _tried(evidence, dataset, arms, planned)
        for dataset, planned in TUNED.items()
        for arms in TRIED.values()
    ]
    every = [each for each in asked if each.scores]
    found: dict[str, list[str]] = {}
    for each in every:
        found.setdefault(each.lead.finding, []).append(each.lead.what)
    finding = ". ".join(f"{name}: {'; '.join(some)}" for name, some in found.items())
    leads = [lead for each in every for lead in each.leads.values()]
    beside = any(test for each in every for test in each.others.values())
    width = len(_HEAD) if beside else len(_HEAD) - 1
    return Answer(
        "q7",
        "Are published methods above labels alone once tuned?",
        finding or "not run",
        (" ".join(each.lead.sentence for each in every) or "No setting was run yet.",),
        _HEAD[:width],
        tuple(row[:width] for each in every for row in each.rows),
        "Each method has its published constants and three other settings to choose "
        "from. They are chosen by the highest score in the profile choosing, with "
        "other seeds; in medium the chosen one is judged, beside the published one if "
        f"it is another. {said_of(leads)}{_LAST if beside else ''}",
        parts=tuple(each.part for each in asked),
    )


def _told(test: Paired | None) -> str:
    return "–" if test is None else short(test)


def _tried(
    evidence: Evidence, dataset: str, arms: tuple[str, ...], planned: int
) -> _Tried:
    metric = measure_of(dataset)
    if evidence.source.name == CHOOSING:  # a choice is made of what there is
        planned = 1
    found = {arm: evidence.scores(setting(dataset, arm), metric) for arm in arms}
    scores = {arm: fmean(of.values()) for arm, of in found.items() if of}
    leads = {
        arm: effect_of(
            evidence,
            f"{ARMS[arm].title} − labels only, {titled(dataset)}",
            setting(dataset, arm),
            setting(dataset, "lower"),
            planned,
        )
        for arm in scores
    }
    beside, first = setting(dataset, "labels-on"), ARMS["labels-on"].steps[0]
    others = {
        arm: evidence.paired(setting(dataset, arm), beside, metric)
        if ARMS[arm].steps[0] == first
        else None
        for arm in scores
    }
    return _Tried(dataset, arms[0], scores, leads, others)
