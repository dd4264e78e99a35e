"""Audit of weights: what the shares of a method are, and what they are good for.

Rounds are played from a trained model on. In each, the shares that the method gave are
held against equal ones: how far they are from these, how much of that what everybody
could count explains, what the same updates would have made with equal shares, and
where in the update space both differ.

The first round is played and not looked at: a method begins it with a fresh state, so
that it may label or step unlike in all others.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import torch

from fedsemi.client.evaluate import TEST_BATCH, metrics, predict
from fedsemi.engines import local_engine
from fedsemi.errors import ConfigError
from fedsemi.messages import Memory, Update, Weights
from fedsemi.objectives.labeler import pseudo_labels_in
from fedsemi.objectives.workbench import Setup
from fedsemi.seeds import seed_of
from fedsemi.server.gates import gate_of
from fedsemi.server.rounds import run
from fedsemi.simulation.build import Simulation
from fedsemi.valuation.update_space import Place, mean_of, place_of
from fedsemi.weights import weighted_mean

FACTS = ("presence", "counts", "size")
"""What could stand for a share: classes that a client shows, its labels and confident
pseudo-labels, and its images."""
SETTLING = 1
"""Rounds that are played first and not looked at. In CBAFed's first, thresholds come
from labels alone; in (FL)²'s, the server learns before the clients as well, so that
they do not step from the model that the round began with."""
_EQUAL = 1e-9
"""Variance of relative shares below which there is nothing to explain."""
_DIGITS = 9
"""Of relative numbers; what lies behind is rounding."""

Numbers = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Row:
    """One client in one round."""

    round: int
    client: int
    share: float
    equal: float
    """What it would have if clients of its kind counted alike."""
    presence: float
    counts: float
    size: float
    kind: str
    """Of images that it has: labeled, unlabeled or both."""


@dataclass(frozen=True)
class Relative:
    """A client beside those of its kind in a round, whose mean is 1 in each number."""

    client: int
    share: float
    presence: float
    counts: float
    size: float


@dataclass(frozen=True)
class Audit:
    """What was found, over all rounds that were played."""

    method: str
    rows: tuple[Row, ...]
    accuracy: tuple[float, ...]
    """On the test set, of the mean with the method's shares, by round."""
    equal_accuracy: tuple[float, ...]
    """Of the mean of the same updates with equal ones."""
    places: tuple[Place, ...] = ()
    """Where the two means differ, by round; rounds with equal shares have none."""

    @property
    def place(self) -> Place | None:
        """Where the shares act, on average over rounds."""
        return mean_of(self.places)

    @property
    def moved(self) -> float:
        """Part of a mean that shares move away from equal ones, on average."""
        gaps = sum(abs(row.share - row.equal) for row in self.rows)
        return gaps / 2 / len(self.accuracy)

    @property
    def gain(self) -> float:
        """Accuracy that the shares add to equal ones, on average."""
        return float(np.mean(np.subtract(self.accuracy, self.equal_accuracy)))

    def explained(self, *facts: str) -> float | None:
        """Return R² of relative shares by these facts; None if shares are equal."""
        shares, columns = self._columns(facts)
        return r_squared(columns, shares)

    def ranked(self, fact: str) -> float | None:
        """Return the rank correlation of relative shares with a fact, if there is."""
        shares, columns = self._columns((fact,))
        if _alike(shares) or _alike(columns):
            return None
        from scipy.stats import spearmanr  # slow to import, and only needed here

        return float(spearmanr(shares, columns[:, 0]).statistic)

    def rising(self, fact: str) -> bool:
        """Tell whether clients with more of a fact have larger shares."""
        shares, columns = self._columns((fact,))
        return float(((shares - 1) * (columns[:, 0] - 1)).sum()) > 0

    def _columns(self, facts: Sequence[str]) -> tuple[Numbers, Numbers]:
        found = relative(self.rows)
        shares = np.array([each.share for each in found])
        columns = np.array([[getattr(each, fact) for fact in facts] for each in found])
        # Equal numbers of two rounds shall be ties, whatever their last bits.
        return shares.round(_DIGITS), columns.reshape(-1, len(facts)).round(_DIGITS)


def relative(rows: Sequence[Row]) -> list[Relative]:
    """Measure clients in means over those of their kind in the same round.

    A share is a part of what its kind has in a round, so facts must be parts of such
    totals too: else shares by counts would not follow counts over several rounds. Who
    is alone of a kind has an equal share by construction, and is left out.
    """
    groups: dict[tuple[int, str], list[Row]] = {}
    for row in rows:
        groups.setdefault((row.round, row.kind), []).append(row)
    several = [g for g in groups.values() if len(g) > 1 and g[0].equal > 0]
    return [each for group in several for each in _beside(group)]


def _beside(group: Sequence[Row]) -> Iterator[Relative]:
    means = {fact: np.mean([getattr(row, fact) for row in group]) for fact in FACTS}
    for row in group:
        # What nobody has, all have alike: it counts as 1, as any other such number.
        facts = {
            fact: float(getattr(row, fact) / mean) if mean > 0 else 1.0
            for fact, mean in means.items()
        }
        yield Relative(row.client, row.share / row.equal, **facts)


def _alike(numbers: Numbers) -> bool:
    return not numbers.size or float(numbers.var()) < _EQUAL


def r_squared(columns: Numbers, target: Numbers) -> float | None:
    """Return which part of the target's variance a straight line explains.

    >>> columns = np.array([[1.0], [2.0], [3.0], [4.0]])
    >>> r_squared(columns, np.array([1.0, 2.0, 3.0, 4.0]))
    1.0
    >>> r_squared(columns, np.ones(4)) is None
    True
    """
    total = float(((target - target.mean()) ** 2).sum()) if len(target) else 0.0
    if total < _EQUAL:
        return None
    design = np.column_stack([np.ones(len(target)), columns])
    fitted = design @ np.linalg.lstsq(design, target, rcond=None)[0]
    return round(1 - float(((target - fitted) ** 2).sum()) / total, 12)


def equal_shares(updates: Sequence[Update], shares: Mapping[int, float]) -> list[float]:
    """Let clients of a kind (labeled, unlabeled, both) count alike.

    What each kind has together stays, so that only the weighing within it is asked.
    """
    kinds = [kind_of(update) for update in updates]
    given = [shares.get(update.client, 0.0) for update in updates]
    return [
        sum(s for s, other in zip(given, kinds, strict=True) if other == kind)
        / kinds.count(kind)
        for kind in kinds
    ]


def kind_of(update: Update) -> str:
    """Say which images a client has: labeled, unlabeled or both."""
    if update.num_labeled and update.num_unlabeled:
        return "both"
    return "labeled" if update.num_labeled else "unlabeled"


def audit(simulation: Simulation, weights: Weights, rounds: int) -> Audit:
    """Play rounds of the last stage from a model on, and audit its shares.

    So many rounds are looked at; those in which the method settles come before.
    """
    stage = simulation.experiment.stages[-1]
    method, setup = simulation.method(stage), simulation.setup(stage)
    rows, own, equal, places = list[Row](), list[float](), list[float](), list[Place]()
    with local_engine(method, simulation.federation.clients, 1) as engine:
        seed = seed_of(simulation.experiment.seed, "audit")
        before = method.init(weights, engine.clients(), seed)
        gate, last = gate_of(simulation, method), SETTLING + rounds
        for done in run(method, engine, before, last, gate):
            if done.state.round <= SETTLING:
                before = done.state
                continue
            shares = done.state.contributions
            used = counted(done.learned, shares)
            memories = {u.client: engine.memory(u.client) for u in used}
            rows += _rows(done.state.round, used, shares, memories)
            base = before.whole
            both = [shares[u.client] for u in used], equal_shares(used, shares)
            for kept, given in zip((own, equal), both, strict=True):
                mean = weighted_mean(base, [u.weights for u in used], _tensor(given))
                kept.append(_accuracy(simulation, setup, mean))
            if place := place_of(base, used, *both, setup.parameter_names):
                places.append(place)
            before = done.state
    if not any(row.share for row in rows):
        raise ConfigError(
            f"{stage.method} gave nobody a share in {rounds} rounds, so there is "
            "nothing to audit; audit a run whose model is trained",
            code="FS4502",
        )
    return Audit(stage.method, tuple(rows), tuple(own), tuple(equal), tuple(places))


def counted(updates: Sequence[Update], shares: Mapping[int, float]) -> list[Update]:
    """Return one update of each client that has a share.

    Of several phases the last one counts; who is in several groups (RSCFed) counts
    with the mean of its updates, as its share is known as a whole.
    """
    last = {(u.client, u.group): u for u in updates if u.client in shares}
    of_client: dict[int, list[Update]] = {}
    for update in last.values():
        of_client.setdefault(update.client, []).append(update)
    return [_joined(several) for _, several in sorted(of_client.items())]


def _joined(several: Sequence[Update]) -> Update:
    first = several[0]
    if len(several) == 1:
        return first
    alike = torch.full((len(several),), 1 / len(several), dtype=torch.float64)
    mean = weighted_mean(first.weights, [u.weights for u in several], alike)
    return replace(first, weights=mean)


def _rows(
    round: int,
    updates: Sequence[Update],
    shares: Mapping[int, float],
    memories: Mapping[int, Memory],
) -> Iterator[Row]:
    for update, equal in zip(updates, equal_shares(updates, shares), strict=True):
        found = pseudo_labels_in(memories[update.client])
        shown = 0 if found is None else len(set(found[found >= 0].tolist()))
        yield Row(
            round,
            update.client,
            shares[update.client],
            equal,
            float(shown),
            float(update.num_labeled + update.num_pseudo),
            float(update.num_labeled + update.num_unlabeled),
            kind_of(update),
        )


def _accuracy(simulation: Simulation, setup: Setup, weights: Weights) -> float:
    classifier = {key: weights[key] for key in simulation.initial_weights()}
    test, model = simulation.federation.test, setup.load(classifier)
    probs = predict(
        model, setup.shown(test.images), setup.seen, TEST_BATCH, setup.device, 1
    )
    return metrics(probs, test.labels, setup.model.num_classes).accuracy


def _tensor(shares: Sequence[float]) -> torch.Tensor:
    return torch.tensor(shares, dtype=torch.float64)
