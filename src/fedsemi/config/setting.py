"""[setting]: under which card of the field an experiment runs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict

from fedsemi.cards import CARDS, Card, CardName, card_here, misfit
from fedsemi.config.method_settings import method_settings
from fedsemi.data.arrays import ARRAYS
from fedsemi.errors import ConfigError, DataError
from fedsemi.messages import ClientInfo
from fedsemi.methods import METHODS
from fedsemi.settings import STRICT, Count

if TYPE_CHECKING:
    from fedsemi.config.experiment import Experiment


class CardSettings(BaseModel):
    """[setting]: who has labels."""

    model_config = ConfigDict(**STRICT, frozen=True)

    card: CardName | None = None
    """A card of `fedsemi settings-cards`. Left out: LPC where every client has labels
    for a part of its images, LC elsewhere."""
    labels_per_class: Count | None = None
    """Labels of each class: at every client under LAC, at the server under LS; the
    card's own number if left out."""


def check_setting(experiment: Experiment) -> None:
    """Refuse a card that [partition] contradicts, and labels that nobody would have."""
    setting, partition = experiment.setting, experiment.partition
    clashing = []
    if setting.card in ("LC", "LAC", "LS") and partition.labeled_fraction is not None:
        clashing.append("partition.labeled_fraction")
    if (
        setting.card in ("LAC", "LS")
        and partition.labeled_clients != 1
        and _drawn(experiment)
    ):
        clashing.append("partition.labeled_clients")
    if setting.card not in ("LAC", "LS") or not _drawn(experiment):
        clashing += ["setting.labels_per_class"] if setting.labels_per_class else []
    if clashing:
        said = setting.card or "LC"
        raise ConfigError(
            f"{', '.join(clashing)} has no meaning here: card {said} says that "
            f"{CARDS[said].title}; see `fedsemi settings-cards {said}`",
            code="FS4500",
        )


def check_fit(experiment: Experiment, clients: Iterable[ClientInfo]) -> None:
    """Refuse a card if those who take part have other labels than it says."""
    said = experiment.setting.card
    if said is not None and (problem := misfit(CARDS[said], clients)):
        raise DataError(
            f"setting.card is {said} ({CARDS[said].title}), but {problem}; name the "
            "card that fits, or leave it out",
            code="FS4501",
        )


def _drawn(experiment: Experiment) -> bool:
    """Tell whether labels are dealt out here, not brought by those who have them."""
    brought = experiment.sites is not None or experiment.data.name == ARRAYS
    return not brought and experiment.partition.file is None


def departures(experiment: Experiment, clients: Iterable[ClientInfo]) -> list[str]:
    """Say of each stage's method that it is made for other cards, a line each."""
    said, there = experiment.setting.card, list(clients)
    if said is None and not there:
        return []
    card = card_here(said, there)
    names = dict.fromkeys(stage.method for stage in experiment.stages)
    return [_made_for_others(name, card) for name in names if _is_elsewhere(name, card)]


def own_conditions(experiment: Experiment) -> list[str]:
    """Say in a line where a config that names a card departs from its papers.

    A card sets who has labels; how many clients are asked, for how many epochs, and how
    many labels there are is the config's own.
    """
    if experiment.setting.card is None:
        return []
    card = CARDS[experiment.setting.card]
    found = [
        f"{name} is {_listed(here)}, not {_shown(due)}"
        for name, here, due in _conditions(experiment, card)
        if here - {due}
    ]
    told = f"this is not as in the papers behind card {card.name}: {'; '.join(found)}"
    return [told] if found else []


def _conditions(
    experiment: Experiment, card: Card
) -> Iterator[tuple[str, set[float], float]]:
    """Yield name, values of the stages, and the card's value of each condition."""
    settings = [method_settings(s.method, s.settings) for s in experiment.stages]
    asked = {own["participation"] for own in settings if "participation" in own}
    yield "participation", asked, card.participation
    epochs = {float(experiment.local_of(s).epochs) for s in experiment.stages}
    yield "local.epochs", epochs, card.epochs
    if not _drawn(experiment):
        return
    labels, fraction = card.labels_per_class, card.labeled_fraction
    if labels is not None:
        own_labels = experiment.setting.labels_per_class or labels
        yield "setting.labels_per_class", {float(own_labels)}, labels
    if fraction is not None:
        own_fraction = experiment.partition.labeled_fraction or fraction
        yield "partition.labeled_fraction", {own_fraction}, fraction


def _listed(values: Iterable[float]) -> str:
    return " and ".join(_shown(value) for value in sorted(values))


def _shown(value: float) -> str:
    return f"{value:g}"


def _is_elsewhere(method: str, card: Card) -> bool:
    made_for = METHODS[method].cards
    return bool(made_for) and card.name not in made_for


def _made_for_others(method: str, card: Card) -> str:
    meant = " and ".join(
        f"{name} ({CARDS[name].title})" for name in METHODS[method].cards
    )
    return f"{method} is made for {meant}; this is {card.name} ({card.title})"
