"""Cards: who has labels, and whether those who are there fit one."""

from __future__ import annotations

import pytest

from fedsemi.cards import CARDS, card_here, misfit
from fedsemi.messages import ClientInfo
from fedsemi.methods import METHODS

WHOLE = [ClientInfo(0, 20, 0), ClientInfo(1, 0, 30)]
PARTLY = [ClientInfo(0, 5, 20), ClientInfo(1, 5, 30)]
SERVER = [ClientInfo(0, 20, 0), ClientInfo(1, 0, 30), ClientInfo(2, 0, 30)]
TWO_LABELED = [ClientInfo(0, 20, 0), ClientInfo(1, 9, 0), ClientInfo(2, 0, 30)]


@pytest.mark.parametrize(
    ("card", "clients", "problem"),
    [
        ("LC", WHOLE, None),
        ("LC", PARTLY, "client 0 has both"),
        ("LPC", PARTLY, None),
        ("LPC", WHOLE, "client 1 has no labels"),
        ("LAC", PARTLY, None),
        ("LAC", SERVER, "client 1 has no labels"),
        ("LS", SERVER, None),
        ("LS", TWO_LABELED, "client 1 has labels, beside the server"),
        ("LS", [ClientInfo(0, 0, 4)], "nobody has labels"),
        ("LS", [ClientInfo(0, 4, 4)], "client 0 has both"),
        ("LAC", [*PARTLY, ClientInfo(2, 0, 0)], None),
    ],
)
def test_a_card_says_why_clients_do_not_fit(card, clients, problem):
    found = misfit(CARDS[card], clients)
    assert found is None if problem is None else problem in found


def test_without_a_word_clients_that_are_all_partly_labeled_are_lpc_and_others_lc():
    assert card_here(None, PARTLY).name == "LPC"
    assert card_here(None, [*PARTLY, *WHOLE[1:]]).name == "LC"
    assert card_here(None, []).name == card_here(None, WHOLE).name == "LC"
    assert card_here("LS", WHOLE).name == "LS"


@pytest.mark.parametrize("name", METHODS.own)
def test_every_method_says_for_which_cards_it_is_made(name):
    cards = METHODS[name].cards
    assert cards and set(cards) <= set(CARDS) and len(set(cards)) == len(cards)


def test_every_card_has_a_method_that_is_made_for_it_above_all():
    assert {method.cards[0] for method in METHODS.own.values()} <= set(CARDS)
    for card in CARDS:
        assert any(card in method.cards for method in METHODS.own.values())
