"""Settings of the field as cards: who has labels, and what else its papers agree on.

Numbers of two cards are never put in one column: a method that sees a few labels at
every client has another task than one whose labels lie at the server.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from fedsemi.messages import ClientInfo

CardName = Literal["LC", "LPC", "LAC", "LS"]


@dataclass(frozen=True)
class Card:
    """What a setting fixes, and the conditions that its papers use."""

    name: CardName
    title: str
    """Who has labels, in a few words."""
    labels: str
    """How many, per class and client."""
    settings: tuple[str, ...]
    """Lines of a config that ask for this card."""
    clients: int
    """K, of the papers that made the card."""
    participation: float
    """Part of the clients that they ask in a round."""
    epochs: int
    """E."""
    batch: str
    """Images of a step, as far as the papers say."""
    server_trains: bool
    """Whether the server has labels of its own and learns from them."""
    labeled_fraction: float | None = None
    """Part of each client's images that has labels, unless the config says another."""
    labels_per_class: int | None = None
    """Labels of each class, at each client or at the server, unless it says another."""
    source: str = ""
    """Whose conditions these are."""


CARDS: dict[CardName, Card] = {
    card.name: card
    for card in (
        Card(
            "LC",
            "whole clients are labeled, others not at all",
            "all of a labeled client, none elsewhere",
            ("[partition]", "labeled_clients = 1"),
            clients=10,
            participation=1.0,
            epochs=1,
            batch="64",
            server_trains=False,
            source="SemiAnAgg, and RSCFed and CBAFed before it",
        ),
        Card(
            "LPC",
            "every client is labeled in part",
            "a tenth of each client, in its own class mix",
            ("[setting]", 'card = "LPC"', "[partition]", "labeled_fraction = 0.1"),
            clients=10,
            participation=1.0,
            epochs=1,
            batch="64",
            server_trains=False,
            labeled_fraction=0.1,
            source="SemiAnAgg's ablation with 10 % of every client",
        ),
        Card(
            "LAC",
            "all clients have labels, very few",
            "5 of each class at each client, fewer where it has fewer",
            ("[setting]", 'card = "LAC"', "labels_per_class = 5"),
            clients=20,
            participation=0.4,
            epochs=5,
            batch="labeled images, and twice as many unlabeled ones",
            server_trains=False,
            labels_per_class=5,
            source="clients, participation and E of SAGE, whose labels are a tenth of "
            "each client",
        ),
        Card(
            "LS",
            "labels at the server only",
            "25 of each class at the server, none at a client",
            ("[setting]", 'card = "LS"', "labels_per_class = 25"),
            clients=100,
            participation=0.1,
            epochs=5,
            batch="10",
            server_trains=True,
            labels_per_class=25,
            source="SemiFL, with 250 labels of ten classes",
        ),
    )
}

SERVER = 0
"""Under LS, the participant with the server's own labels; clients begin at 1."""


def card_here(said: CardName | None, clients: Iterable[ClientInfo]) -> Card:
    """Return the card that a config names, or that of the clients that are there.

    >>> few = [ClientInfo(0, 5, 90), ClientInfo(1, 5, 70)]
    >>> card_here(None, few).name, card_here("LAC", few).name
    ('LPC', 'LAC')
    >>> card_here(None, [ClientInfo(0, 60, 0), *few]).name
    'LC'
    """
    if said is not None:
        return CARDS[said]
    there = [c for c in clients if c.num_labeled or c.num_unlabeled]
    partly = there and all(c.num_labeled and c.num_unlabeled for c in there)
    return CARDS["LPC" if partly else "LC"]


def misfit(card: Card, clients: Iterable[ClientInfo]) -> str | None:
    """Say why clients do not stand as the card says; None if they do."""
    there = [c for c in clients if c.num_labeled or c.num_unlabeled]
    both = [c.id for c in there if c.num_labeled and c.num_unlabeled]
    labeled = [c.id for c in there if c.num_labeled]
    if card.name in ("LPC", "LAC"):
        without = [c.id for c in there if not c.num_labeled]
        return f"client {without[0]} has no labels" if without else None
    if card.name == "LS" and (others := [id for id in labeled if id != SERVER]):
        return f"client {others[0]} has labels, beside the server, {SERVER}"
    if card.name == "LS" and not labeled:
        return f"nobody has labels; the server is {SERVER}"
    return f"client {both[0]} has both kinds of images" if both else None
