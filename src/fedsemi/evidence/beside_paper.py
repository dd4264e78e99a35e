"""Beside the paper: how many of its leads hold here, and how large they are.

Taken are the published rivals of Table 1 and the ablation of Table 3. Beside each lead
stands that of equal shares over the same rival, which is what it would be without
SemiAnAgg's weights.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from statistics import fmean

from fedsemi.evidence.arms import ARMS
from fedsemi.evidence.catalogue import Artifact, Cell, measure_of
from fedsemi.evidence.layout import SHORT, measured_by, titled
from fedsemi.evidence.numbers import short, signed
from fedsemi.evidence.render import markdown_table, name_of
from fedsemi.evidence.results import OURS, Evidence
from fedsemi.evidence.stats import Paired
from fedsemi.evidence.tables import TABLES

_MAIN, _ABLATION = "table1", "table3"
_RIVALS = {_MAIN: ("rscfed", "isofed", "cbafed"), _ABLATION: ("fedavg-semi",)}
"""Table 1 has FedAvg-Semi on ISIC-18 too, by the number that Table 3 repeats."""
_HOLDS, _REVERSED, _OPEN = "holds", "reversed", "open"
NOTHING = "Nothing of it was run with two seeds yet."
HEAD = (
    "data",
    "SemiAnAgg against",
    "in the paper",
    "here",
    "seeds",
    "equal shares against it",
    "the order",
)
_NOTE = (
    "Differences in points, here paired over seeds, with 95 % intervals that are not "
    "corrected for their number. Holds: the interval is on the paper's side of zero; "
    "reversed: on the other side; open: it includes zero."
)


@dataclass(frozen=True)
class Lead:
    """SemiAnAgg less a rival: in the paper and here."""

    table: Artifact
    rival: Cell
    paper: float
    here: Paired
    equal: Paired | None
    """Equal shares less the rival."""
    decides: Paired | None
    """The same lead by the metric that decides on the data set, if it is another."""

    @property
    def word(self) -> str:
        """Say whether the order of the paper holds."""
        side = self.here.side * (int(self.paper > 0) - int(self.paper < 0))
        return {1: _HOLDS, -1: _REVERSED, 0: _OPEN}[side]

    @property
    def row(self) -> tuple[str, ...]:
        """Write it as a row of a table."""
        main = self.table.name == _MAIN
        return (
            f"{titled(self.rival.setting.dataset)}, {measured_by(self.rival)}",
            _rival(self.rival) + ("" if main else f" ({name_of(self.table)})"),
            signed(self.paper),
            short(self.here),
            str(self.here.n),
            "–" if self.equal is None else short(self.equal),
            self.word,
        )


@dataclass(frozen=True)
class Beside:
    """What was run of that with two seeds or more, and what the paper has."""

    leads: tuple[Lead, ...]
    claimed: tuple[Cell, ...]
    """Rivals that SemiAnAgg leads in the paper's Table 1, run here or not."""
    profile: str

    @property
    def rows(self) -> list[tuple[str, ...]]:
        """Write a row for each lead."""
        return [each.row for each in self.leads]

    @property
    def sentence(self) -> str:
        """Say how many leads hold, and how large they are; nothing if none was run."""
        told = [self._order(), self._size(), self._ablation()]
        if any(told) and self.profile != "paper":
            told.append("The paper's own scale has not been run here.")
        return " ".join(filter(None, told))

    @property
    def note(self) -> str:
        """Say what the numbers are, and what another metric says that decides here."""
        return " ".join([_NOTE, *self._decided()])

    def _main(self, word: str = "") -> list[Lead]:
        """Find the paper's leads in Table 1 that were run, or those of a word."""
        every = [e for e in self.leads if e.table.name == _MAIN and e.paper > 0]
        return [each for each in every if word in ("", each.word)]

    def _order(self) -> str:
        ran = len(self._main())
        if not ran:
            return ""
        rivals = _and(dict.fromkeys(map(_rival, self.claimed)))
        text = f"Of the paper's {len(self.claimed)} leads of SemiAnAgg over {rivals} "
        text += f"in {name_of(TABLES[_MAIN])}, "
        if ran < len(self.claimed):
            text += f"{ran} {'was' if ran == 1 else 'were'} run here with two seeds or "
            text += "more; "
        holds, against, unsure = map(self._main, (_HOLDS, _REVERSED, _OPEN))
        number = f"{len(holds) or 'none'} hold{'' if len(holds) > 1 else 's'} here"
        where = f" ({_where(against)})" if against else ""
        return (
            f"{text}{number} (95 % intervals), {_are(against)} reversed{where} and "
            f"{_are(unsure)} open."
        )

    def _size(self) -> str:
        """Give means of what holds: here, with equal shares, and in the paper."""
        holds = self._main(_HOLDS)
        if not holds:
            return ""
        text = "Over those that hold the mean lead is "
        text += f"{signed(fmean(each.here.mean for each in holds))} points"
        # Of fewer rivals it would be another mean, with which nothing can be compared.
        equal = [each.equal.mean for each in holds if each.equal is not None]
        if len(equal) == len(holds):
            text += f", {signed(fmean(equal))} for equal shares in SemiAnAgg's place"
        return f"{text} and {signed(fmean(each.paper for each in holds))} in the paper."

    def _ablation(self) -> str:
        found = [each for each in self.leads if each.table.name == _ABLATION]
        if not found:
            return ""
        told = [
            f"{short(each.here)} by {_metric(each.rival)} (paper {signed(each.paper)}; "
            f"{each.word})"
            for each in found
        ]
        rival, table = found[0].rival, found[0].table
        where = f"on {titled(rival.setting.dataset)} ({name_of(table)})"
        return f"SemiAnAgg − {_rival(rival)} {where} is {_and(told)}."

    def _decided(self) -> list[str]:
        """Tell leads by the metric that decides on a data set, if it is another."""
        told: dict[str, list[str]] = {}
        for each in self.leads:
            place = each.rival.setting.dataset
            if each.table.name == _MAIN and each.decides is not None:
                line = f"{_rival(each.rival)} {short(each.decides)}"
                told.setdefault(place, []).append(line)
        return [
            f"By {SHORT[measure_of(place)]}, which decides on {titled(place)} here and "
            f"of which {name_of(TABLES[_MAIN])} has no numbers, SemiAnAgg's leads are: "
            f"{', '.join(some)}."
            for place, some in told.items()
        ]


def beside(
    evidence: Evidence, tables: Iterable[Artifact] = tuple(TABLES.values())
) -> Beside:
    """Set what was run of some tables beside the paper."""
    leads: list[Lead] = []
    claimed: list[Cell] = []
    for table in tables:
        for cell in table.cells:
            if cell.setting.arm not in _RIVALS.get(table.name, ()):
                continue
            ours = replace(cell.setting, arm=OURS)
            paper = table.lead(ours, cell)
            if paper is None:
                continue
            if table.name == _MAIN and paper > 0:
                claimed.append(cell)
            here = evidence.paired(ours, cell.setting, cell.score)
            # One seed has no interval, so that it says nothing of an order.
            if here is None or here.low is None:
                continue
            equal = replace(ours, arm="uniform")
            than_rival = evidence.paired(equal, cell.setting, cell.score)
            metric = measure_of(ours.dataset)
            other = metric != cell.metric
            decides = evidence.paired(ours, cell.setting, metric) if other else None
            leads.append(Lead(table, cell, paper, here, than_rival, decides))
    return Beside(tuple(leads), tuple(claimed), evidence.source.name)


def sentence(evidence: Evidence) -> str:
    """Say how many leads of the paper hold, and how large they are."""
    return beside(evidence).sentence or NOTHING


def as_markdown(evidence: Evidence) -> str:
    """Write that with its table, lead by lead."""
    found = beside(evidence)
    if not found.sentence:
        return NOTHING
    return f"{found.sentence}\n\n{markdown_table(HEAD, found.rows)}\n\n{found.note}"


def _rival(cell: Cell) -> str:
    return ARMS[cell.setting.arm].title


def _metric(cell: Cell) -> str:
    return cell.metric.replace("_", " ")


def _are(leads: Sequence[Lead]) -> str:
    """Count leads, and end with the verb."""
    return f"{len(leads) or 'none'} {'are' if len(leads) > 1 else 'is'}"


def _where(leads: Sequence[Lead]) -> str:
    """Name rivals with what they lead by, data set by data set."""
    places: dict[tuple[str, str], list[Lead]] = {}
    for each in leads:
        place = titled(each.rival.setting.dataset), _metric(each.rival)
        places.setdefault(place, []).append(each)
    return "; ".join(
        f"{dataset} by {metric}: {_each(some)}{_otherwise(some)}"
        for (dataset, metric), some in places.items()
    )


def _each(leads: Sequence[Lead]) -> str:
    # The name without "(our reading)", which the sentence has said by then.
    return ", ".join(
        f"{_rival(each.rival).partition(' (')[0]} {signed(each.here.mean)}"
        for each in leads
    )


def _otherwise(leads: Sequence[Lead]) -> str:
    """Add what the metric says that decides, where it is another."""
    told = [signed(each.decides.mean) for each in leads if each.decides is not None]
    if len(told) < len(leads):
        return ""
    metric = measure_of(leads[0].rival.setting.dataset).replace("_", " ")
    return f"; by {metric} {_and(told)}"


def _and(words: Iterable[str]) -> str:
    """Write words as one would say them.

    >>> _and(["a", "b", "c"]), _and(["a"])
    ('a, b and c', 'a')
    """
    *first, last = words
    return f"{', '.join(first)} and {last}" if first else last
