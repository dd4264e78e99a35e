"""Profiles: how large an experiment is, the same for all methods; one TOML each."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib.resources import files
from pathlib import Path
from typing import Any

from fedsemi.cards import CARDS, Card
from fedsemi.config.experiment import Experiment, make_experiment
from fedsemi.config.files import apply_override
from fedsemi.data.partition_file import find_partition_file
from fedsemi.errors import ConfigError
from fedsemi.evidence.arms import FLEX, Arm, Step, arm_of
from fedsemi.evidence.catalogue import Setting
from fedsemi.evidence.constants import CONSTANTS
from fedsemi.methods import METHODS

NAMES = ("smoke", "small", "choosing", "medium", "paper")
_ROUNDS = ("warm_up", "rounds", "upper", "self_supervised", "head")
_SECTIONS = ("data", "partition", "model", "local", "evaluation", "guard")

Table = Mapping[str, Any]


@dataclass(frozen=True)
class Profile:
    """A name and the shared settings of each data set."""

    name: str
    seeds: int
    tables: Mapping[str, Table]
    cards: Mapping[str, Mapping[str, Table]] = field(default_factory=dict)
    """What is other under a card, for each data set that it is compared on."""
    published: Mapping[str, str] = field(default_factory=dict)
    """The published partition of each data set whose file is at hand."""
    seed_offset: int = 0
    """Added to a run's seed, so that what is chosen here is not judged by itself."""
    _written: dict[Setting, Experiment] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )
    """Checking a config takes long, and seeds differ in nothing but their number."""

    def covers(self, settings: Iterable[Setting]) -> bool:
        """Tell whether the profile has all data sets that these settings need."""
        return all(setting.dataset in self.tables for setting in settings)

    def check_covers(self, settings: Iterable[Setting]) -> None:
        """Refuse settings on a data set that the profile lacks, by name."""
        for setting in settings:
            if setting.dataset not in self.tables:
                raise ConfigError(
                    f"profile '{self.name}' has no '{setting.dataset}', which is asked "
                    "for; use --profile medium",
                    code="FS4104",
                )

    @property
    def lower_bound(self) -> str:
        """The paper's: the model at the end of the warm-up."""
        return "warm-up"

    def experiment(self, setting: Setting, seed: int) -> Experiment:
        """Write the config of a setting."""
        if setting not in self._written:
            self._written[setting] = make_experiment(self.content(setting, seed))
        update = {"seed": seed + self.seed_offset}
        return self._written[setting].model_copy(update=update)

    def content(self, setting: Setting, seed: int) -> dict[str, Any]:
        """Write what the config of a setting says, without defaults."""
        table = self.table_of(setting)
        arm = arm_of(setting.arm)
        content = {name: dict(table.get(name, {})) for name in _SECTIONS}
        for key, value in (*setting.partition, *arm.partition.items()):
            _place(content["partition"], key, value)
        content["evaluation"] |= arm.evaluation
        file = self.published.get(setting.dataset)
        if file is not None and _takes_published(content):
            content["partition"]["file"] = file
        stages = stages_of(arm, setting.dataset, table)
        written = {"seed": seed, **content, "stages": stages}
        if setting.card is not None:
            _put_under(CARDS[setting.card], table, written, bool(arm.partition))
        return written

    def table_of(self, setting: Setting) -> Table:
        """Return the settings of a data set, as its card has them."""
        table = self.tables[setting.dataset]
        if setting.card is None:
            return table
        return _merged(table, self.cards[setting.card][setting.dataset])

    def with_published(self, data_dir: Path | None = None) -> Profile:
        """Use the published partitions whose files are in the data folders."""
        found = {
            dataset: name
            for dataset, table in self.tables.items()
            if (name := table.get("published")) and find_partition_file(name, data_dir)
        }
        return replace(self, published=found)

    def prelude(self, setting: Setting, seed: int) -> Experiment | None:
        """Write the warm-up that the upper bound starts from, if the profile says so.

        Its own stages cannot say it: the warm-up has few labels, and it has all.
        """
        if setting.arm != "upper" or not self.table_of(setting)["upper_warm_up"]:
            return None
        method = self.experiment(replace(setting, arm="semianagg"), seed)
        return method.model_copy(update={"stages": method.stages[:-1]})


def read_profile(name: str, overrides: Sequence[str] = ()) -> Profile:
    """Read a profile; overrides are `key=value` or `dataset.key=value`."""
    if name not in NAMES:
        raise ConfigError(
            f"there is no profile '{name}'; known: {', '.join(NAMES)}", code="FS4104"
        )
    content = _read(name)
    seeds, offset = content.pop("seeds"), content.pop("seed_offset", 0)
    shared, cards = content.pop("shared"), content.pop("cards", {})
    tables = {dataset: _table(dataset, content, shared) for dataset in content}
    under = [(dataset, own) for card in cards.values() for dataset, own in card.items()]
    for override in overrides:
        first, _, rest = override.partition(".")
        # What is said on the command line counts under every card as well.
        for dataset, table in [*tables.items(), *under]:
            if first not in tables:
                apply_override(table, override)
            elif first == dataset:
                apply_override(table, rest)
    for table in [*tables.values(), *(own for _, own in under)]:
        _check_keys(table)
    return Profile(name, seeds, tables, cards, seed_offset=offset)


def _read(name: str) -> dict[str, Any]:
    """Read the file of a profile; what is `like` another begins with its content."""
    text = (files("fedsemi.evidence") / "profiles" / f"{name}.toml").read_text("utf-8")
    content = tomllib.loads(text)
    like = content.pop("like", None)
    return content if like is None else _merged(_read(like), content)


def _table(dataset: str, content: Table, shared: Table) -> dict[str, Any]:
    """Write the settings of a data set; one that is `like` another begins with its."""
    own = dict(content[dataset])
    like = own.pop("like", None)
    first = shared if like is None else _table(like, content, shared)
    return _merged(first, own)


def stages_of(arm: Arm, dataset: str, table: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Write the stages of an arm with the rounds of a data set."""
    own = table.get("constants", {})
    constants = _merged(CONSTANTS.get(dataset, {}), own)
    return [_stage(step, table, constants.get(step.method, {})) for step in arm.steps]


def _stage(
    step: Step, table: Mapping[str, Any], constants: Mapping[str, Any]
) -> dict[str, Any]:
    total = table["warm_up"] + table["rounds"]
    rounds = total if step.rounds == "total" else table[step.rounds]
    stage = {"method": step.method, "rounds": rounds, **constants, **step.settings}
    if "learner" in stage:
        own = {"loss": table.get("pseudo_loss"), **stage["learner"]}
        if own["selection"] == FLEX:  # the paper's; a profile may have another
            own["selection"] = table.get("selection", FLEX)
        stage["learner"] = learner(cutoff=table["cutoff"], **own)
    return stage


def learner(selection: str, cutoff: float, loss: str | None = None) -> dict[str, Any]:
    """Describe the local learner that all averaging methods share."""
    made: dict[str, Any] = {"selection": selection, "cutoff": cutoff}
    made |= {"flex_state": "per_round"} if selection == "flexmatch" else {}
    return made | ({"loss": loss} if loss else {})


def _put_under(
    card: Card, table: Table, content: dict[str, Any], all_labels: bool
) -> None:
    """Give an experiment the labels, clients, participation and epochs of its card.

    A profile may have others, where the papers' are too many for its machine. A bound
    with all labels is under no card, but has the same clients.
    """
    if not all_labels:
        content["setting"] = {"card": card.name, **table.get("setting", {})}
    content["partition"].setdefault("num_clients", card.clients)
    content["local"].setdefault("epochs", card.epochs)
    participation = table.get("participation", card.participation)
    content["stages"] = [stage for stage in content["stages"] if stage["rounds"]]
    for stage in content["stages"]:
        takes = {each.name for each in METHODS[stage["method"]].settings()}
        if "participation" in takes:
            stage.setdefault("participation", participation)


def _place(table: dict[str, Any], key: str, value: Any) -> None:
    """Set `section.key` or `key` in a table that nobody else holds."""
    first, _, rest = key.partition(".")
    if rest:
        table[first] = dict(table.get(first, {}))
        _place(table[first], rest, value)
    else:
        table[first] = value


def _takes_published(content: Mapping[str, Any]) -> bool:
    """Tell whether a setting is the published one: ten clients, one labeled, or all."""
    own = {k: v for k, v in content["partition"].items() if v is not None}
    labeled = own.pop("labeled_clients", 1)
    return (
        not own
        and labeled in (1, "all")
        and not {"train_limit", "split"} & set(content["data"])
    )


def _merged(shared: Mapping[str, Any], own: Mapping[str, Any]) -> dict[str, Any]:
    both = {**shared, **own}
    for key in shared.keys() & own.keys():
        if isinstance(shared[key], Mapping) and isinstance(own[key], Mapping):
            both[key] = _merged(shared[key], own[key])
    return {
        key: _merged(value, {}) if isinstance(value, Mapping) else value
        for key, value in both.items()
    }


def _check_keys(table: Mapping[str, Any]) -> None:
    known = {*_ROUNDS, *_SECTIONS, "cutoff", "constants", "selection", "pseudo_loss"}
    known |= {"upper_warm_up", "published", "setting", "participation"}
    if unknown := table.keys() - known:
        raise ConfigError(
            f"a profile has no '{sorted(unknown)[0]}'; known: "
            f"{', '.join(sorted(known))}",
            code="FS4102",
        )
