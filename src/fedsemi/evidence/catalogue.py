"""What the paper shows: nine tables and twelve figures, and what each one needs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from fedsemi.cards import CardName
from fedsemi.client.evaluate import Score
from fedsemi.errors import ConfigError, nearest

Source = Literal["result", "probe-all", "probe-labeled"]
Kind = Literal[
    "curves",
    "contributions",
    "pseudo-labels",
    "leave-one-out",
    "classes",
    "bars",
    "sweep",
]


@dataclass(frozen=True)
class Setting:
    """One experiment but for its seed and profile."""

    dataset: str
    arm: str
    partition: tuple[tuple[str, Any], ...] = ()
    without: int | None = None
    """The client that is left out."""
    card: CardName | None = None
    """Whose clients, labels, participation and epochs it has; None for the paper's."""

    @property
    def label(self) -> str:
        """Name the setting in a line."""
        parts = [f"{key}={value}" for key, value in self.partition]
        if self.card is not None:
            parts.insert(0, f"under {self.card}")
        if self.without is not None:
            parts.append(f"without client {self.without}")
        return " ".join([f"{self.dataset}/{self.arm}", *parts])

    @property
    def conditions(self) -> list[str]:
        """Say in words what is other than usual in who owns what."""
        return [f"{key.replace('_', ' ')} {value}" for key, value in self.partition]

    def bound(self, which: str) -> Setting:
        """Return the lower or upper bound that belongs to this setting."""
        kept = self.partition
        if which == "upper":
            labels = ("labeled_clients", "labeled_fraction")
            kept = tuple(item for item in kept if item[0] not in labels)
        return replace(self, arm=which, partition=kept, without=None)


@dataclass(frozen=True)
class Cell:
    """One number of the paper, and how to get ours."""

    row: str
    setting: Setting
    metric: Score = "accuracy"
    paper: float | None = None
    """In percent; None where the paper has no number."""
    source: Source = "result"
    notes: tuple[str, ...] = ()
    """Names of known disagreements, see notes.py."""
    condition: str = ""
    """What else names the cell: clients, alpha."""
    published: float | None = None
    """What a baseline's own authors published, as the paper quotes it."""
    averaged: bool = False
    """Whether the running mean of the model is tested, not the model itself."""

    @property
    def score(self) -> str:
        """Name the score as records do."""
        return f"running_mean.{self.metric}" if self.averaged else self.metric


@dataclass(frozen=True)
class Chart:
    """A plot: what kind, of which settings."""

    kind: Kind
    title: str
    settings: tuple[Setting, ...]
    metric: Score = "accuracy"
    at_point: bool = False
    """Whether it is of one point of a sweep, which its title names."""


@dataclass(frozen=True)
class Artifact:
    """A table or a figure."""

    name: str
    title: str
    cells: tuple[Cell, ...] = ()
    charts: tuple[Chart, ...] = ()
    notes: tuple[str, ...] = ()
    tests: tuple[Setting, ...] = ()
    """SemiAnAgg's settings that are tested against every other row beside them."""
    planned: tuple[tuple[str, int], ...] = ()
    """Data sets of which other numbers of seeds are planned than the profile's."""
    own: bool = False
    """Whether it is somebody's own comparison, of which the paper has no numbers."""

    @property
    def settings(self) -> tuple[Setting, ...]:
        """All experiments that it needs, each once, in order."""
        found = [cell.setting for cell in self.cells]
        found += [setting for chart in self.charts for setting in chart.settings]
        return tuple(dict.fromkeys(found))

    def lead(self, ours: Setting, cell: Cell) -> float | None:
        """Return by how much the paper has a setting ahead of a cell, if it has both.

        That is what the paper claims.
        """
        claim = [
            each.paper
            for each in self.cells
            if each.setting == ours
            and each.metric == cell.metric
            and each.paper is not None
        ]
        return claim[0] - cell.paper if claim and cell.paper is not None else None


def measure_of(dataset: str) -> Score:
    """Return the score that decides on a data set: balanced where classes are not."""
    return "balanced_accuracy" if dataset == "isic18" else "accuracy"


def setting(dataset: str, arm: str, **partition: Any) -> Setting:
    """Write a setting shortly."""
    return Setting(dataset, arm, tuple(sorted(partition.items())))


def find(names: Sequence[str], catalogue: Mapping[str, Artifact]) -> list[Artifact]:
    """Find artifacts by name; "all" means all of the paper's."""
    for name in names:
        if name != "all" and name not in catalogue:
            questions = "".join(f"{each}, " for each in catalogue if each[0] == "q")
            raise ConfigError(
                f"there is no '{name}'{nearest(name, catalogue)}; ask for table1 to "
                f"table9, fig1 to fig12, {questions}or all",
                code="FS4104",
            )
    if "all" in names:
        return [each for name, each in catalogue.items() if name[0] != "q"]
    return [catalogue[name] for name in dict.fromkeys(names)]


def only(settings: Sequence[Setting], pattern: str | None) -> list[Setting]:
    """Keep the settings of `dataset/arm/cell`; refuse what keeps none.

    Each part may be missing or a list; a cell is named by all of its conditions.
    """
    if pattern is None:
        return list(settings)
    dataset, arm, cell = map(_listed, [*pattern.split("/", 2), "", ""][:3])
    _refuse_unknown(dataset, {each.dataset for each in settings})
    _refuse_unknown(arm, {each.arm for each in settings})
    _refuse_unknown(cell, set().union(*map(_conditions, settings)))
    kept = [
        each
        for each in settings
        if (not dataset or each.dataset in dataset)
        and (not arm or each.arm in arm)
        and (not cell or _conditions(each) == cell)
    ]
    if not kept:
        raise ConfigError(
            f"--only: nothing that is asked for is all of '{pattern}'; a cell is named "
            "by all of its conditions, for instance "
            f"{','.join(sorted(_conditions(settings[-1]))) or 'none'}",
            code="FS4104",
        )
    return kept


def _listed(part: str) -> set[str]:
    return set(part.split(",")) if part else set()


def _conditions(setting: Setting) -> set[str]:
    return {f"{key}={value}" for key, value in setting.partition}


def _refuse_unknown(names: set[str], known: set[str]) -> None:
    for name in sorted(names - known):
        raise ConfigError(
            f"--only: nothing that is asked for has '{name}'{nearest(name, known)}; "
            f"there is {', '.join(sorted(known))}",
            code="FS4104",
        )
