"""What a benchmark found: for each row its scores, difference, rank and cost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from fedsemi.evidence.benchmark import Benchmark, title_of
from fedsemi.evidence.layout import BOUNDS
from fedsemi.evidence.ranking import Ranking, ranking
from fedsemi.evidence.records import Record
from fedsemi.evidence.results import Evidence
from fedsemi.evidence.stats import Paired, Spread, spread
from fedsemi.methods import METHODS
from fedsemi.methods.averaging import Averaging
from fedsemi.models import ModelSpec
from fedsemi.weights import num_bytes

MAIN, SECOND = "accuracy", "balanced_accuracy"


@dataclass(frozen=True)
class Row:
    """One method, or a bound."""

    arm: str
    title: str
    bound: bool
    made_for: bool
    """Whether its method is made for the card."""
    accuracy: Spread | None
    balanced: Spread | None
    against: Paired | None
    """Accuracy minus the reference's, seed by seed; None for the reference itself."""
    rank: float | None
    seconds: float | None
    """CPU time of its fastest seed, after the warm-up; older records have none, and
    seconds on the wall depend on who else uses the machine."""
    unclocked: bool
    """Whether a seed has no CPU time."""
    bytes_sent: float | None
    """By all who take part, under LS its server too, after the warm-up."""


@dataclass(frozen=True)
class Standing:
    """A benchmark with its records: bounds first, then methods by their accuracy."""

    benchmark: Benchmark
    rows: tuple[Row, ...]
    ranking: Ranking

    @property
    def ran(self) -> bool:
        """Whether anything was run."""
        return any(row.accuracy for row in self.rows)


def standing(benchmark: Benchmark, evidence: Evidence) -> Standing:
    """Put the records of a benchmark together."""
    planned = evidence.planned(benchmark.settings)
    scores = {
        arm: evidence.scores(benchmark.setting(arm), MAIN, most=planned)
        for arm in benchmark.methods
    }
    ran = {title_of(arm): found for arm, found in scores.items() if found}
    ranks = ranking(ran)
    places = dict(zip(ranks.names, ranks.ranks, strict=False))
    rows = [
        _row(benchmark, arm, evidence, places.get(title_of(arm)), planned)
        for arm in benchmark.arms
    ]
    most = max((row.accuracy.n for row in rows if row.accuracy), default=0)
    rows.sort(key=lambda row: _order(row, most))
    return Standing(benchmark, tuple(rows), ranks)


def _row(
    benchmark: Benchmark,
    arm: str,
    evidence: Evidence,
    rank: float | None,
    planned: int,
) -> Row:
    """Fill a row, with no more seeds than are planned for all of them."""
    setting = benchmark.setting(arm)
    records = list(evidence.found(setting).values())
    seconds = [spent for record in records if (spent := record.get("cpu_seconds"))]
    sent = [size for record in records if (size := _sent(record)) is not None]
    other = benchmark.setting(benchmark.reference)
    against = (
        None if setting == other else evidence.paired(setting, other, MAIN, planned)
    )
    return Row(
        arm,
        title_of(arm),
        arm in BOUNDS,
        benchmark.made_for(arm),
        _spread(evidence.scores(setting, MAIN, most=planned)),
        _spread(evidence.scores(setting, SECOND, most=planned)),
        against,
        rank,
        min(seconds, default=None),
        len(seconds) < len(records),
        sum(sent) / len(sent) if sent else None,
    )


def _order(row: Row, most: int) -> tuple[bool, bool, float]:
    """Put bounds first; last those with fewer seeds, since seeds differ in level."""
    if row.accuracy is None:
        return not row.bound, True, 1.0
    return not row.bound, row.accuracy.n < most, -row.accuracy.mean


def _spread(scores: Mapping[int, float]) -> Spread | None:
    return spread(list(scores.values())) if scores else None


def _sent(record: Record) -> float | None:
    """Return the bytes that clients sent; older records are counted, if that is plain.

    Where clients answer once a round with nothing to speak of beside the model, it is
    the model's size times those who are asked, times rounds.
    """
    if "bytes_sent" in record:
        return float(record["bytes_sent"])
    stage = record["config"]["stages"][-1]
    method = METHODS[stage["method"]]
    plain = method.labels_only or issubclass(method, Averaging)
    if not plain or stage.get("participation", 1.0) != 1.0:
        return None
    owned = record["owns"].values()
    asked = [o for o in owned if o["num_labeled"] or not method.labels_only]
    model = record["config"]["model"]
    spec = ModelSpec(model["name"], len(record["class_names"]), width=model["width"])
    size = num_bytes(spec.empty().state_dict())
    return float(size * len(asked) * stage["rounds"])
