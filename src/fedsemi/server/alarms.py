"""Alarms: what a person should know while a run goes wrong, and what to do about it.

They read the records of rounds, which hold nothing that the sites of a real federation
could not send: no alarm looks at the test set or at the oracle.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from fedsemi.client.findings import Validation
from fedsemi.config.protection import AlarmSettings
from fedsemi.runs.records import ClientRecord, RoundRecord


@dataclass(frozen=True)
class Alarm:
    """One warning; rounds count from one."""

    stage: int
    round: int
    kind: str
    what: str
    remedy: str


class Watchman:
    """Reads record after record; says each thing once in a stage."""

    def __init__(
        self,
        settings: AlarmSettings,
        class_names: tuple[str, ...],
        seen: Iterable[RoundRecord] = (),
    ) -> None:
        self._settings = settings
        self._names = class_names
        self._stage = -1
        self._warm_up: Validation | None = None
        self._best: dict[str, float] = {}
        self._bad: Counter[str] = Counter()
        for record in seen:
            self.look(record)

    def look(self, record: RoundRecord) -> list[Alarm]:
        """Return the alarms that this round raises."""
        found: list[tuple[str, str, str]] = []
        if record.stage != self._stage:
            self._stage, self._best, self._bad = record.stage, {}, Counter()
            if _unlabeled(record) and self._warm_up:
                found += self._weak_warm_up(self._warm_up)
                self._best["held-out"] = self._warm_up.accuracy
        if _unlabeled(record):
            found += self._hurt(record.validation)
            if not record.hidden:
                found += [*self._idle(record), *self._collapsed(record)]
        if record.intervention:
            found.append(("intervention", record.intervention, _INTERVENED))
        self._warm_up = record.validation
        return [Alarm(record.stage, record.round, *each) for each in found]

    def _weak_warm_up(self, warm_up: Validation) -> Iterator[tuple[str, str, str]]:
        recall = warm_up.per_class_recall
        lost = [self._names[c] for c, value in enumerate(recall) if value == 0]
        if lost:
            what = f"The warm-up never recognizes {_some(lost)}"
            yield "warm-up", f"{what} among the held-out images.", _WARM_UP
        error = warm_up.calibration_error
        if error > self._settings.calibration_error:
            what = f"After the warm-up, confidence is off by {error:.0%} on average."
            yield "calibration", what, _CALIBRATION

    def _hurt(self, validation: Validation | None) -> Iterator[tuple[str, str, str]]:
        if validation is None:
            return
        accuracy = validation.accuracy
        best = self._best["held-out"] = max(
            self._best.get("held-out", accuracy), accuracy
        )
        hurts = self._settings.hurts(best, accuracy, validation.num)
        if self._lasts("hurt", hurts):
            what = f"Held-out accuracy fell from {best:.1%} to {accuracy:.1%}"
            yield "hurt", f"{what} since unlabeled clients take part.", _HURT

    def _idle(self, record: RoundRecord) -> Iterator[tuple[str, str, str]]:
        clients = _unlabeled(record)
        fair = sum(c.contribution for c in clients.values()) / len(clients)
        idle = [
            id
            for id, client in clients.items()
            if self._lasts(f"idle {id}", client.contribution <= 0.01 * fair)
        ]
        if idle:
            what = f"Hardly any contribution for {self._settings.patience} rounds"
            yield "idle", f"{what}: client {', '.join(map(str, idle))}.", _IDLE

    def _collapsed(self, record: RoundRecord) -> Iterator[tuple[str, str, str]]:
        clients = _unlabeled(record).values()
        total = sum(client.num_unlabeled for client in clients)
        share = sum(client.num_pseudo for client in clients) / total
        best = self._best["share"] = max(self._best.get("share", share), share)
        if self._lasts("collapse", share < 0.5 * best or share < 0.01):
            yield "collapse", _few(share, best), _COLLAPSE

    def _lasts(self, name: str, bad: bool) -> bool:
        """Tell whether something has just been bad for long enough."""
        self._bad[name] = self._bad[name] + 1 if bad else min(self._bad[name], 0)
        if self._bad[name] < self._settings.patience:
            return False
        self._bad[name] = -(10**9)  # said once
        return True


def _unlabeled(record: RoundRecord) -> dict[int, ClientRecord]:
    clients = record.clients.items()
    return {id: client for id, client in clients if client.num_unlabeled}


def _few(share: float, best: float) -> str:
    """Say how many images get a pseudo-label, and that it was more if one can see it.

    >>> _few(0.1, 0.5)
    'Only 10.0% of the unlabeled images get a confident pseudo-label; it was 50.0%.'
    >>> _few(0.0, 0.0)
    'No unlabeled image gets a confident pseudo-label.'
    """
    now, before = (_percent(each) for each in (share, best))
    who = (
        f"Only {now} of the unlabeled images get"
        if share
        else "No unlabeled image gets"
    )
    more = "" if now == before else f"; it was {before}"
    return f"{who} a confident pseudo-label{more}."


def _percent(share: float) -> str:
    return "less than 0.1%" if 0 < share < 0.001 else f"{share:.1%}"


def _some(names: list[str], most: int = 6) -> str:
    shown, rest = names[:most], len(names) - most
    return ", ".join(shown) + (f" and {rest} more classes" if rest > 0 else "")


_WARM_UP = (
    "Give the first stage more rounds, or labels of these classes to a labeled client; "
    "pseudo-labels cannot bring back a class that the teacher never names."
)
_CALIBRATION = (
    "Raise learner.cutoff, or give the first stage more rounds; with few labels per "
    "class try local.loss = 'balanced-softmax'."
)
_HURT = (
    "Raise labeled_share, or set alarms.action to 'lower-share' or 'roll-back'; look "
    "at the pseudo-label accuracy by client for the one that misleads."
)
_IDLE = (
    "Without a pseudo-label above learner.cutoff a client has nothing to add. Lower "
    "the cutoff, or train the warm-up longer."
)
_COLLAPSE = (
    "Lower learner.cutoff or the learning rate local.lr_unlabeled; a warm-up that is "
    "too short makes the teacher unsure."
)
_INTERVENED = "Nothing, if it is rare; if it recurs, raise labeled_share for good."
