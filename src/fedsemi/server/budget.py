"""The account of a run: what each round costs, and how many the budget allows.

Every site is taken to answer in every round: a draw of some sites is no secret, so that
nothing is gained by it, and a round that was skipped counts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from fedsemi.accounting import check_accountant, epsilon, round_cost
from fedsemi.config.blueprint import Blueprint
from fedsemi.config.privacy import PrivacySettings
from fedsemi.errors import ConfigError
from fedsemi.method import Method, innermost
from fedsemi.runs.records import Spent


@dataclass(frozen=True)
class Course:
    """The stages of a run by what their rounds cost of any one site's privacy."""

    privacy: PrivacySettings
    rounds: tuple[int, ...]
    costs: tuple[float, ...]
    """Of a round of each stage; 0 if nothing is promised."""

    @classmethod
    def of(cls, blueprint: Blueprint) -> Course:
        """Look at the methods of a plan."""
        privacy, stages = blueprint.experiment.privacy, blueprint.experiment.stages
        costs = [_cost(privacy, blueprint.method(stage)) for stage in stages]
        if any(costs):
            check_accountant()  # before the first round, not after it
        return cls(privacy, tuple(stage.rounds for stage in stages), tuple(costs))

    def last_round(self, stage: int, done: int, spent: float) -> int:
        """Return how many rounds of a stage may be done, given those that are."""
        low, high, each = done, self.rounds[stage], self.costs[stage]
        while low < high:
            middle = (low + high + 1) // 2
            fits = self._fits(spent + (middle - done) * each)
            low, high = (middle, high) if fits else (low, middle - 1)
        return low

    def stops(self, stage: int, done: int, spent: float) -> str | None:
        """Say why no round may follow those that are done, None if one may."""
        while stage < len(self.rounds) and done >= self.rounds[stage]:
            stage, done = stage + 1, 0
        if stage == len(self.rounds) or self._fits(spent + self.costs[stage]):
            return None
        return (
            f"FS6112 stopped before round {done + 1} of stage {stage + 1}, with which "
            f"ε would be {self._epsilon(spent + self.costs[stage]):.3f}, above "
            f"privacy.budget_epsilon = {self.privacy.budget_epsilon:g}"
        )

    def check_first(self) -> None:
        """Refuse a run whose first round is already too much."""
        if self.stops(0, 0, 0.0):
            first = next(c for c, n in zip(self.costs, self.rounds, strict=True) if n)
            raise ConfigError(
                f"one round costs ε = {self._epsilon(first):.3g} at δ = "
                f"{self.privacy.delta:g}, and privacy.budget_epsilon is "
                f"{self.privacy.budget_epsilon:g}; raise privacy.noise_multiplier, "
                "privacy.statistics_noise or the budget",
                code="FS6113",
            )

    def price(self, stage: int) -> tuple[float, bool]:
        """Return what a round of a stage costs, and whether its model has noise."""
        return self.costs[stage], self._noisy

    def check_continued(self, rounds: int, noised: int) -> None:
        """Refuse to begin an account in the middle: it would be of a part.

        What was spent does not tell: noise on statistics alone costs something, too,
        and a run may have gone on without noise in between.
        """
        if self._noisy and noised < rounds:
            raise ConfigError(
                f"of the {rounds} rounds before, {rounds - noised} were made without "
                "noise on the model, so that no ε holds for what follows; start a new "
                "run, or set privacy.noise_multiplier = 0",
                code="FS6110",
            )

    def record(self, stage: int, done: int, spent: float) -> Spent | None:
        """Say what was spent so far; None where there is no noise."""
        if not any(self.costs):
            return None
        covers = "model" if self._noisy else "statistics"
        stops = self.stops(stage, done, spent)
        return Spent(self._epsilon(spent), self.privacy.delta, spent, covers, stops)

    @property
    def _noisy(self) -> bool:
        return self.privacy.noise_multiplier > 0

    def _fits(self, spent: float) -> bool:
        most = self.privacy.budget_epsilon
        return most is None or self._epsilon(spent) <= most

    def _epsilon(self, spent: float) -> float:
        return epsilon(spent, self.privacy.delta)


def _cost(privacy: PrivacySettings, method: Method[Any]) -> float:
    statistics = privacy.statistics_noise if innermost(method).statistics else 0.0
    return round_cost(privacy.noise_multiplier, statistics)
