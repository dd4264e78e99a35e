"""Rounds to which nobody without labels added anything."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from fedsemi.runs.records import RoundRecord

_NO_PSEUDO_LABEL = "FS2202"
"""What the gate notes of a round in which no pseudo-label was confident."""


@dataclass(frozen=True)
class Silence:
    """In how many rounds no unlabeled image counted, of those that asked for some."""

    silent: int
    asked: int
    num_pseudo: int = 0
    """Confident pseudo-labels in all these rounds, whether they counted or not."""

    @property
    def total(self) -> bool:
        """Whether no round learned anything from unlabeled images."""
        return 0 < self.asked == self.silent


NEVER_ASKED = Silence(0, 0)


def silence_of(records: Iterable[RoundRecord]) -> Silence:
    """Count the rounds that unlabeled images were to take part in, and did not.

    Whether they did is not known of rounds under masks, which are left out.
    """
    asked = [each for each in records if _unlabeled(each) and not each.hidden]
    counts = [client.num_pseudo for each in asked for client in each.clients.values()]
    return Silence(sum(map(_is_silent, asked)), len(asked), sum(counts))


def _unlabeled(record: RoundRecord) -> Sequence[int]:
    return [id for id, client in record.clients.items() if client.num_unlabeled]


def _is_silent(record: RoundRecord) -> bool:
    """Tell whether no unlabeled image counted; who has labels as well always counts."""
    holders = [record.clients[id] for id in _unlabeled(record)]
    if all(client.num_labeled for client in holders):
        return any(each.code == _NO_PSEUDO_LABEL for each in record.notices)
    return not any(
        client.num_pseudo if client.num_labeled else client.contribution
        for client in holders
    )
