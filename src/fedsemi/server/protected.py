"""A method whose server step is checked on held-out labels before it counts."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Generic

from fedsemi.client.findings import Validator
from fedsemi.data.client import Client
from fedsemi.errors import ConfigError
from fedsemi.messages import ClientInfo, Memory, Task, Update, Weights
from fedsemi.method import Method, S
from fedsemi.server.alarms import AlarmSettings

_TRIES = 3


@dataclass(frozen=True, eq=False)
class Protected(Generic[S]):
    """Asks another method, and answers for it when its mean hurts the labeled.

    A mean hurts if it lowers held-out accuracy in one round by more than the settings
    bear, as with the warnings.
    """

    method: Method[S]
    validator: Validator
    settings: AlarmSettings
    interventions: list[str] = field(default_factory=list)
    """What was done since somebody last looked."""
    _scored: list[tuple[Weights, float]] = field(default_factory=list, init=False)
    """Held-out accuracy of weights that may be asked for again."""

    def init(self, weights: Weights, clients: Sequence[ClientInfo], seed: int = 0) -> S:
        """Begin as the method does."""
        return self.method.init(weights, clients, seed)

    def plan(self, state: S) -> Sequence[Task]:
        """Plan as the method does."""
        return self.method.plan(state)

    def train(
        self, task: Task, client: Client, memory: Memory
    ) -> tuple[Update, Memory]:
        """Train as the method does."""
        return self.method.train(task, client, memory)

    def aggregate(self, state: S, updates: Sequence[Update]) -> S:
        """Aggregate as the method does, then with less of the unlabeled, or not."""
        new = self._aggregate(state, updates)
        # Where this round ends, the next one begins.
        self._scored[:] = [each for each in self._scored if each[0] is new.weights]
        return new

    def taken(self) -> str | None:
        """Say what was done in the last round."""
        said = " ".join(self.interventions) or None
        self.interventions.clear()
        return said

    def _aggregate(self, state: S, updates: Sequence[Update]) -> S:
        new = self.method.aggregate(state, updates)
        if new.round == state.round or not updates:
            return new
        before = self._accuracy(state.weights)
        if not self._hurts(before, new):
            return new
        if self.settings.action == "lower-share":
            for share, gentler in _gentler(self.method):
                new = gentler.aggregate(state, updates)
                if not self._hurts(before, new):
                    self._note(
                        f"the mean was taken with a labeled share of {share:.0%}"
                    )
                    return new
        self._note("the round was rolled back")
        return replace(state, round=new.round, contributions={})

    def _hurts(self, before: float, new: S) -> bool:
        num = len(self.validator.held_out)
        return self.settings.hurts(before, self._accuracy(new.weights), num)

    def _accuracy(self, weights: Weights) -> float:
        for scored, accuracy in self._scored:
            if scored is weights:
                return accuracy
        labels = self.validator.held_out.labels
        right = self.validator.probs(weights).argmax(1) == labels
        self._scored.append((weights, float(right.double().mean())))
        return self._scored[-1][1]

    def _note(self, done: str) -> None:
        reason = "The mean would have hurt held-out accuracy; "
        self.interventions.append(f"{reason}{done}.")


def protected(
    method: Method[S], validator: Validator | None, settings: AlarmSettings
) -> Method[S]:
    """Protect a method, if the settings ask for more than warnings."""
    if settings.action == "warn":
        return method
    if validator is None:
        raise ConfigError(
            f"alarms.action = '{settings.action}' needs held-out labels; set "
            "evaluation.validation_fraction, e.g. to 0.2",
            code="FS4118",
        )
    return Protected(method, validator, settings)


def _gentler(method: Any) -> Iterator[tuple[float, Any]]:
    """Yield the method with a labeled share ever closer to one."""
    if not hasattr(method, "labeled_share"):
        return
    fields = {each.name for each in dataclasses.fields(method)}
    fixed = {"labeled_share_end": None} if "labeled_share_end" in fields else {}
    share = method.labeled_share
    for _ in range(_TRIES):
        share += (1 - share) / 2
        yield share, replace(method, labeled_share=share, **fixed)
