"""[setting]: under which card of the field an experiment runs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict

from fedsemi.cards import CARDS, Card, CardName, card_here, misfit
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


def _is_elsewhere(method: str, card: Card) -> bool:
    made_for = METHODS[method].cards
    return bool(made_for) and card.name not in made_for


def _made_for_others(method: str, card: Card) -> str:
    meant = " and ".join(
        f"{name} ({CARDS[name].title})" for name in METHODS[method].cards
    )
    return f"{method} is made for {meant}; this is {card.name} ({card.title})"
