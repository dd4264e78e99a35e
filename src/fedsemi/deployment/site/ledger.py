"""What a site has given away under differential privacy, in all runs: its ledger.

A charge is on the disk before the answer that it is for is even computed, so that no
kill can make an answer free. The same question again has the same answer, noise
included, and costs nothing. Of a plan without noise one line says that it was answered:
from then on no ε holds.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from fedsemi.accounting import epsilon, round_cost
from fedsemi.config.blueprint import Blueprint
from fedsemi.deployment.site import journal
from fedsemi.deployment.site.policy import Budget, Policy
from fedsemi.errors import ProtocolError
from fedsemi.method import innermost

LEDGER = "privacy-ledger.jsonl"
_COST, _QUESTION, _AGAINST = "cost", "question", "against"
Against = Literal["coordinator", "public"]
"""Whom the noise of an answer holds against, as in the policy's budget."""


@dataclass(frozen=True)
class Ledger:
    """The ledger of one site."""

    folder: Path
    policy: Policy

    def spent(self) -> float:
        """Return ε of all that was charged so far; infinite if no ε holds."""
        return epsilon(self._total(journal.read(self._path)), self._budget.delta)

    def charge(
        self,
        question: str,
        cost: float,
        against: Against = "coordinator",
        **about: Any,
    ) -> float:
        """Note the cost of an answer, or refuse it; return ε with it.

        Args:
            question: Names what is asked; the same is charged once.
            cost: As `fedsemi.accounting` counts it; infinite without noise.
            against: Whom that noise holds against.
            **about: What else to note, e.g. plan, stage and round.
        """
        noted = None if cost == math.inf else cost  # JSON has no infinity
        entry = {**about, _QUESTION: question, _COST: noted, _AGAINST: against}
        budget = self._budget
        with journal.opened(self._path) as book:
            entries = book.entries()
            before = self._total(entries)
            if any(old[_QUESTION] == question for old in entries):
                return epsilon(before, budget.delta)
            after = epsilon(self._total([*entries, entry]), budget.delta)
            if budget.epsilon is not None and after > budget.epsilon:
                place = self.policy.place("budget.epsilon")
                why = _why_not(before, after, budget.delta, place)
                raise ProtocolError(why, code="FS6103")
            book.add(entry)
            return after

    def charge_round(
        self, blueprint: Blueprint, stage: int, round: int, question: str
    ) -> None:
        """Charge what an answer to a round of a plan costs."""
        privacy = blueprint.experiment.privacy
        method = blueprint.method(blueprint.experiment.stages[stage])
        plan = blueprint.sha256
        if not privacy.noise_multiplier:  # what has noise tells no more than the model
            self.charge(f"{plan} without noise", math.inf, plan=plan[:12])
            return
        sends = innermost(method).statistics
        price = round_cost(
            privacy.noise_multiplier, privacy.statistics_noise if sends else 0.0
        )
        against: Against = "public" if method.sends_model else "coordinator"
        about = {"plan": plan[:12], "stage": stage, "round": round}
        self.charge(question, price, against, **about)

    def _total(self, entries: Sequence[Mapping[str, Any]]) -> float:
        """Add up costs; noise that the coordinator adds is none against itself."""
        unbound = self._budget.against == "coordinator"
        return sum(
            math.inf
            if entry[_COST] is None or (unbound and entry.get(_AGAINST) == "public")
            else float(entry[_COST])
            for entry in entries
        )

    @property
    def _budget(self) -> Budget:
        return self.policy.rules.budget

    @property
    def _path(self) -> Path:
        return self.folder / LEDGER


def _why_not(before: float, after: float, delta: float, place: str) -> str:
    if before == math.inf:
        return (
            "this site has given answers that no noise covers, so that no ε holds; to "
            f"count from now on, its owner moves {LEDGER} away ({place})"
        )
    return (
        f"this site's budget would be exceeded: ε = {after:.3g} of all its answers, at "
        f"δ = {delta:g} ({place})"
    )
