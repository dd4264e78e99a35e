"""Rounds in which no unlabeled image counted."""

from __future__ import annotations

from dataclasses import replace

from fedsemi.runs.records import ClientRecord, Notice, RoundRecord
from fedsemi.runs.silence import Silence, silence_of


def a_round(*clients: tuple[int, int, int, float], notices: tuple[Notice, ...] = ()):
    made = {id: ClientRecord(*client) for id, client in enumerate(clients)}
    return RoundRecord(1, "semianagg", 1, 9, 1.0, clients=made, notices=notices)


LABELED, SILENT, HEARD = (9, 0, 0, 0.5), (0, 9, 0, 0.0), (0, 9, 3, 0.5)


def test_a_round_is_silent_if_no_site_without_labels_contributed() -> None:
    rounds = [a_round(LABELED, SILENT, SILENT), a_round(LABELED, HEARD, SILENT)]
    assert silence_of(rounds) == Silence(silent=1, asked=2, num_pseudo=3)
    assert silence_of(rounds[:1]).total and not silence_of(rounds).total


def test_rounds_that_asked_no_unlabeled_site_are_not_counted() -> None:
    assert silence_of([a_round(LABELED)]) == Silence(0, 0)
    assert not Silence(0, 0).total


def test_a_share_without_a_pseudo_label_is_a_contribution() -> None:
    averaged_by_size = (0, 9, 0, 0.5)
    assert silence_of([a_round(LABELED, averaged_by_size)]).silent == 0


def test_partly_labeled_sites_are_silent_if_the_gate_saw_no_pseudo_label() -> None:
    partly = (4, 5, 0, 0.5)
    told = Notice(None, 0, "FS2202", "no client passed the confidence threshold")
    assert silence_of([a_round(partly, partly, notices=(told,))]).total
    assert silence_of([a_round(partly, partly)]).silent == 0, "methods without any"


def test_a_round_under_masks_is_not_called_silent() -> None:
    hidden = replace(a_round(LABELED, SILENT), hidden=True)
    assert silence_of([hidden]) == Silence(0, 0)
