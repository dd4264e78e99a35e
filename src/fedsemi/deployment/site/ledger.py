"""What a site has given away under differential privacy, in all runs: its ledger.

A charge is on the disk before the answer that it is for is even computed, so that no
kill can make an answer free. The same question again has the same answer, noise
included, and costs nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fedsemi.accounting import epsilon, round_cost
from fedsemi.config.blueprint import Blueprint
from fedsemi.deployment.site import journal
from fedsemi.deployment.site.policy import Policy
from fedsemi.errors import ProtocolError
from fedsemi.method import innermost

LEDGER = "privacy-ledger.jsonl"
_COST, _QUESTION = "cost", "question"


@dataclass(frozen=True)
class Ledger:
    """The ledger of one site."""

    folder: Path
    policy: Policy

    def spent(self) -> float:
        """Return ε of all that was charged so far."""
        return epsilon(_total(journal.read(self._path)), self.policy.rules.budget.delta)

    def charge(self, question: str, cost: float, **about: Any) -> float:
        """Note the cost of an answer, or refuse it; return ε with it.

        Args:
            question: Names what is asked; the same is charged once.
            cost: As `fedsemi.accounting` counts it.
            **about: What else to note, e.g. plan, stage and round.
        """
        budget = self.policy.rules.budget
        with journal.opened(self._path) as book:
            entries = book.entries()
            total = _total(entries)
            if any(entry[_QUESTION] == question for entry in entries):
                return epsilon(total, budget.delta)
            after = epsilon(total + cost, budget.delta)
            if budget.epsilon is not None and after > budget.epsilon:
                raise ProtocolError(
                    f"this site's budget would be exceeded: ε = {after:.3g} of all its "
                    f"answers, at δ = {budget.delta:g} "
                    f"({self.policy.place('budget.epsilon')})",
                    code="FS6103",
                )
            book.add({**about, _QUESTION: question, _COST: cost})
            return after

    def charge_round(
        self, blueprint: Blueprint, stage: int, round: int, question: str
    ) -> None:
        """Charge what an answer to a round of a plan costs; without noise, nothing."""
        privacy = blueprint.experiment.privacy
        method = blueprint.method(blueprint.experiment.stages[stage])
        sends = innermost(method).statistics
        statistics = privacy.statistics_noise if sends else 0.0
        if price := round_cost(privacy.noise_multiplier, statistics):
            about = {"plan": blueprint.sha256[:12], "stage": stage, "round": round}
            self.charge(question, price, **about)

    @property
    def _path(self) -> Path:
        return self.folder / LEDGER


def _total(entries: list[dict[str, Any]]) -> float:
    return sum(_cost(entry) for entry in entries)


def _cost(entry: Mapping[str, Any]) -> float:
    return float(entry[_COST])
