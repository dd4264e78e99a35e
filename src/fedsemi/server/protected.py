"""A method whose server step is checked on held-out labels before it counts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from fedsemi.client.findings import Validator
from fedsemi.config.protection import AlarmSettings
from fedsemi.errors import ConfigError
from fedsemi.messages import Update, Weights
from fedsemi.method import Method, WrappedMethod
from fedsemi.state import S

_TRIES = 3


class Protected(WrappedMethod[S]):
    """Asks another method, and answers for it when its mean hurts the labeled.

    A mean hurts if it lowers held-out accuracy in one round by more than the settings
    bear, as with the warnings.
    """

    def __init__(
        self, method: Method[S], validator: Validator, alarms: AlarmSettings
    ) -> None:
        super().__init__(method)
        self.validator = validator
        self.alarms = alarms
        self._interventions: list[str] = []
        self._scored: list[tuple[Weights, float]] = []
        """Held-out accuracy of weights that may be asked for again."""
        self._begun: S | None = None
        """Where the round began, which may have several phases."""

    def aggregate(self, state: S, updates: Sequence[Update]) -> S:
        """Aggregate as the method does, then with less of the unlabeled, or not."""
        if self._begun is None or self._begun.round != state.round:
            self._begun = state
        new = self._aggregate(state, self._begun, updates)
        # Where this round ends, the next one begins.
        self._scored[:] = [each for each in self._scored if each[0] is new.weights]
        return new

    def taken(self) -> str | None:
        """Say what was done in the last round."""
        said = " ".join(self._interventions) or None
        self._interventions.clear()
        return said

    def _aggregate(self, state: S, begun: S, updates: Sequence[Update]) -> S:
        new = self.method.aggregate(state, updates)
        if new.round == state.round or not updates:
            return new
        before = self._accuracy(state.weights)
        if not self._hurts(before, new):
            return new
        if self.alarms.action == "lower-share":
            for share, gentler in _ever_gentler(self.method):
                new = gentler.aggregate(state, updates)
                if not self._hurts(before, new):
                    self._note(
                        f"the mean was taken with a labeled share of {share:.0%}"
                    )
                    return new
        self._note("the round was rolled back")
        return replace(begun, round=new.round, contributions={})

    def _hurts(self, before: float, new: S) -> bool:
        num = len(self.validator.held_out)
        return self.alarms.hurts(before, self._accuracy(new.weights), num)

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
        self._interventions.append(f"{reason}{done}.")


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


def _ever_gentler(method: Method[S]) -> Iterator[tuple[float, Method[S]]]:
    """Yield the method with a labeled share ever closer to one."""
    for _ in range(_TRIES):
        found = method.gentler()
        if found is None:
            return
        yield found
        method = found[1]
