"""From records to the lines of a table: paper, ours, gap closed, verdict."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from fedsemi.evidence.catalogue import Artifact, Cell, Setting
from fedsemi.evidence.jobs import Source, job_of
from fedsemi.evidence.records import Record, score
from fedsemi.evidence.stats import Paired, Spread, gap_closed, paired, spread

OURS = "semianagg"
SAME = "the same model"
"""The verdict on methods that ended in the same bits."""


@dataclass(frozen=True)
class Line:
    """A cell of the paper with what we measured."""

    cell: Cell
    ours: Spread | None
    gap: float | None
    """Share of the label gap closed by our run."""
    paper_gap: float | None
    verdict: str


@dataclass(frozen=True)
class Comparison:
    """SemiAnAgg against another arm, seed by seed."""

    ours: Setting
    other: Setting
    metric: str
    test: Paired


@dataclass(frozen=True)
class Evidence:
    """The records of a profile, found by the hash of what a setting asks for."""

    source: Source
    seeds: int
    """How many were asked for; there may be more."""
    records: Mapping[str, Record]
    _keys: dict[Setting, list[str]] = field(default_factory=dict, init=False)
    """Hashes of the settings asked for so far; writing their configs takes long."""
    _tests: dict[tuple[Setting, Setting, str, int], Paired | None] = field(
        default_factory=dict, init=False
    )

    def found(self, setting: Setting) -> dict[int, Record]:
        """Return the records of a setting by seed, those beyond `seeds` as well."""
        if setting not in self._keys:
            keys = self._keys[setting] = []
            # Seeds are run in order, so that the first that is missing ends the search.
            while len(keys) < self.seeds or (keys and keys[-1] in self.records):
                keys.append(job_of(setting, len(keys) + 1, self.source).key)
        return {
            seed: self.records[key]
            for seed, key in enumerate(self._keys[setting], start=1)
            if key in self.records
        }

    def has_some(self, artifact: Artifact) -> bool:
        """Tell whether anything that an artifact needs was run, if it needs a run."""
        settings = artifact.settings
        return not settings or any(self.found(setting) for setting in settings)

    def scores(
        self, setting: Setting, metric: str, source: str = "result", most: int = 0
    ) -> dict[int, float]:
        """Return the scores of a setting by seed, in percent; `most` limits seeds."""
        every = {
            seed: score(record, metric, source)
            for seed, record in self.found(setting).items()
            if not most or seed <= most
        }
        return {seed: value for seed, value in every.items() if value is not None}

    def planned(self, settings: Iterable[Setting], stated: int = 0) -> int:
        """Return how many seeds a table shows of settings that stand in one.

        Stopping rules of questions give some arms more. Seeds differ in level, so that
        a mean over more of them is none to put beside the others: a table has the
        number that is stated for it, or that of the profile. More that were asked for
        count as soon as all settings have them that were run at all.
        """
        stated = stated or self.source.seeds or self.seeds
        if self.seeds <= stated:
            return stated
        ran = [len(found) for each in settings if (found := self.found(each))]
        return self.seeds if min(ran, default=0) >= self.seeds else stated

    def tabled(
        self, artifact: Artifact, setting: Setting, metric: str, source: str = "result"
    ) -> dict[int, float]:
        """Return the scores of a setting by seed that a table has, in percent."""
        most = self._seeds_of(artifact, setting.dataset)
        return self.scores(setting, metric, source, most)

    def _seeds_of(self, artifact: Artifact, dataset: str) -> int:
        beside = (each for each in artifact.settings if each.dataset == dataset)
        return self.planned(beside, dict(artifact.planned).get(dataset, 0))

    def lines(self, artifact: Artifact) -> list[Line]:
        """Return the lines of a table.

        Where another row lies above the model with all labels, that is no bound, and
        no line says which share of a gap it closes.
        """
        lines = [self._line(artifact, cell) for cell in artifact.cells]
        others = [each for each in lines if each.cell.setting.arm != "upper"]
        unbound = {_column(each) for each in others if (each.gap or 0.0) > 1.0}
        return [
            replace(each, gap=None) if _column(each) in unbound else each
            for each in lines
        ]

    def comparisons(self, artifact: Artifact) -> list[Comparison]:
        """Test SemiAnAgg against every other arm of the same table."""
        found = []
        for ours in artifact.tests:
            for metric in ("accuracy", "balanced_accuracy"):
                for other in self._rivals(artifact, ours):
                    test = self.paired(ours, other, metric)
                    if test is not None:
                        found.append(Comparison(ours, other, metric, test))
        return found

    def _rivals(self, artifact: Artifact, ours: Setting) -> list[Setting]:
        settings = dict.fromkeys(cell.setting for cell in artifact.cells)
        return [
            each
            for each in settings
            if each != ours
            and each.dataset == ours.dataset
            and (each.partition == ours.partition or each == ours.bound("upper"))
        ]

    def paired(
        self, ours: Setting, other: Setting, metric: str, most: int = 0
    ) -> Paired | None:
        """Test ours − other on the seeds that both have; None if there are none.

        With `most`, on none beyond that number.
        """
        asked = ours, other, metric, most
        if asked not in self._tests:
            a, b = (self.scores(each, metric, most=most) for each in (ours, other))
            both = sorted(a.keys() & b.keys())
            pairs = [a[seed] for seed in both], [b[seed] for seed in both]
            self._tests[asked] = paired(*pairs, seeds=both) if both else None
        return self._tests[asked]

    def same_model(self, a: Setting, b: Setting) -> bool:
        """Tell whether two settings ended in the same bits with all shared seeds."""
        ours, others = self.found(a), self.found(b)
        pairs = [
            (ours[seed].get("model_sha256"), others[seed].get("model_sha256"))
            for seed in ours.keys() & others.keys()
        ]
        return bool(pairs) and all(x == y and x is not None for x, y in pairs)

    def _line(self, artifact: Artifact, cell: Cell) -> Line:
        values = self.tabled(artifact, cell.setting, cell.score, cell.source)
        if not values:
            return Line(cell, None, None, self._paper_gap(artifact, cell), "not run")
        return Line(
            cell,
            spread(list(values.values())),
            self._gap(cell, values),
            self._paper_gap(artifact, cell),
            self._verdict(artifact, cell),
        )

    def _gap(self, cell: Cell, values: Mapping[int, float]) -> float | None:
        """Compare with the bounds on the seeds that all three have."""
        if cell.source != "result":
            return None
        lower = self.scores(cell.setting.bound(self.source.lower_bound), cell.score)
        upper = self.scores(cell.setting.bound("upper"), cell.score)
        seeds = sorted(values.keys() & lower.keys() & upper.keys())
        if not seeds:
            return None
        means = [
            sum(each[seed] for seed in seeds) / len(seeds)
            for each in (values, lower, upper)
        ]
        return gap_closed(*means)

    def _paper_gap(self, artifact: Artifact, cell: Cell) -> float | None:
        bounds = [_paper(artifact, cell, name) for name in ("warm-up", "upper")]
        if cell.paper is None or None in bounds or cell.source != "result":
            return None
        return gap_closed(cell.paper, bounds[0] or 0.0, bounds[1] or 0.0)

    def _verdict(self, artifact: Artifact, cell: Cell) -> str:
        """Say whether SemiAnAgg is ahead of this row, here and in the paper."""
        if cell.setting.arm == OURS or cell.source != "result":
            return ""
        ours = Setting(cell.setting.dataset, OURS, cell.setting.partition)
        if cell.setting.arm == "upper":
            partner = [c for c in artifact.cells if c.setting.arm == OURS]
            same = [c.setting for c in partner if c.setting.dataset == ours.dataset]
            ours = same[0] if same and ours not in same else ours
        test = self.paired(ours, cell.setting, cell.score)
        if test is None:
            return ""
        verdict = SAME if self.same_model(ours, cell.setting) else test.verdict
        here = f"SemiAnAgg {test.mean:+.1f}, {verdict}"
        if test.n > self._seeds_of(artifact, cell.setting.dataset):
            here += f", {test.n} seeds"  # all there are, where the line has fewer
        claim = artifact.lead(ours, cell)
        if claim is None or cell.setting.arm.startswith(OURS):
            return here
        return f"{here} (paper {claim:+.2f})"


def _column(line: Line) -> tuple[object, ...]:
    place = line.cell.setting
    return place.dataset, place.partition, line.cell.score


def _paper(artifact: Artifact, cell: Cell, bound: str) -> float | None:
    wanted = cell.setting.bound(bound)
    found: Sequence[float | None] = [
        other.paper
        for other in artifact.cells
        if other.setting.arm == bound
        and other.setting.dataset == wanted.dataset
        and other.metric == cell.metric
        and (bound == "upper" or other.setting.partition == wanted.partition)
    ]
    return found[0] if found else None
