"""Q7: published methods with a small budget of tuning, against labels alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from statistics import fmean

from fedsemi.evidence.answer import Answer
from fedsemi.evidence.arms import ARMS, TRIED
from fedsemi.evidence.catalogue import measure_of, setting
from fedsemi.evidence.effects import points, short
from fedsemi.evidence.layout import SHORT, titled
from fedsemi.evidence.questions import TUNED
from fedsemi.evidence.results import Evidence
from fedsemi.evidence.stats import Paired

_HEAD = ("data set", "method and setting", "seeds", "score", "less labels alone")


@dataclass(frozen=True)
class _Tried:
    """A method on a data set with the settings that were run, by their arms."""

    dataset: str
    metric: str
    scores: Mapping[str, float]
    leads: Mapping[str, Paired | None]
    """Over labels alone, in seeds that both have."""

    @property
    def best(self) -> str:
        """The arm with the highest score; the published one of equals."""
        return max(self.scores, key=lambda arm: self.scores[arm])

    @property
    def sentence(self) -> str:
        """Say what is best, out of how many, and its lead."""
        lead, many = self.leads[self.best], len(self.scores)
        what = f"{titled(self.dataset)}, {ARMS[self.best].title}"
        of = "the only setting so far" if many == 1 else f"highest of {many} settings"
        said = (
            "not compared yet"
            if lead is None
            else f"{points(lead)} against labels alone"
        )
        return f"{what} ({of}): {said}."

    def _stands_out(self, arm: str) -> bool:
        return arm == self.best and len(self.scores) > 1

    @property
    def below(self) -> bool:
        """Whether even the best setting lies below labels alone."""
        lead = self.leads[self.best]
        return lead is not None and lead.mean < 0

    @property
    def rows(self) -> list[tuple[str, ...]]:
        """Write a row for each setting."""
        return [
            (
                titled(self.dataset),
                ARMS[arm].title + (" (highest)" if self._stands_out(arm) else ""),
                "–" if lead is None else str(lead.n),
                f"{self.scores[arm]:.1f} {SHORT[self.metric]}",
                "–" if lead is None else short(lead),
            )
            for arm, lead in self.leads.items()
        ]


def tuned(evidence: Evidence) -> Answer:
    """Say the best setting of each method that was tried, and where it stands."""
    every = [
        tried
        for dataset in TUNED
        for arms in TRIED.values()
        if (tried := _tried(evidence, dataset, arms)).scores
    ]
    below = [
        f"{ARMS[each.best].title}, {titled(each.dataset)}"
        for each in every
        if each.below
    ]
    finding = f"below labels alone: {'; '.join(below)}" if below else "none below"
    return Answer(
        "q7",
        "Are published methods above labels alone once tuned?",
        finding if every else "not run",
        (" ".join(each.sentence for each in every) or "No setting was run yet.",),
        _HEAD,
        tuple(row for each in every for row in each.rows),
        "Each method has its published constants and three other settings to choose "
        "from. They are chosen by the highest score in `choosing`, with other seeds; "
        "in `medium` the chosen one is judged beside the published one.",
    )


def _tried(evidence: Evidence, dataset: str, arms: tuple[str, ...]) -> _Tried:
    metric, labels = measure_of(dataset), setting(dataset, "lower")
    found = {arm: evidence.scores(setting(dataset, arm), metric) for arm in arms}
    scores = {arm: fmean(of.values()) for arm, of in found.items() if of}
    leads = {
        arm: evidence.paired(setting(dataset, arm), labels, metric) for arm in scores
    }
    return _Tried(dataset, metric, scores, leads)
