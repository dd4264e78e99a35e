"""Measure the worth of every client of a finished run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from typing import Any

import numpy as np
import torch

from fedsemi.client.findings import Validator
from fedsemi.engines import InProcess, Workers, local_engine
from fedsemi.errors import ConfigError
from fedsemi.messages import Weights
from fedsemi.method import Method
from fedsemi.report.ranks import correlations
from fedsemi.report.run import Run
from fedsemi.seeds import seed_of
from fedsemi.server.gates import gate_of
from fedsemi.server.rounds import run as run_rounds
from fedsemi.server.running_mean import delivered
from fedsemi.server.stages import Judge, run_stages
from fedsemi.simulation.build import Simulation
from fedsemi.simulation.federation import Federation
from fedsemi.valuation.coalitions import Coalitions, Remembering, Scorer, Values

Said = Callable[[str], None]

_DRAWS = 1000

NAMES = (
    "Contribution",
    "Data size",
    "In-run marginal",
    "Shapley value",
    "Leave one out, warm start",
    "Leave one out, full",
)
"""All measures, in the order in which they are shown."""


class Kind(StrEnum):
    """How to value clients."""

    marginal = "marginal"
    shapley = "shapley"
    warm = "warm"
    full = "full"


@dataclass(frozen=True)
class Worth:
    """One client by one measure, with its 95 % interval where there is one."""

    client: int
    value: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Measure:
    """All clients by one measure."""

    name: str
    about: str
    values: list[Worth]


@dataclass(frozen=True)
class Valuer:
    """Values the clients of a simulation, starting from a trained model."""

    simulation: Simulation
    weights: Weights
    rounds: int = 3
    permutations: int = 20
    workers: int = 1
    say: Said = lambda text: None

    def marginal_and_shapley(self, kinds: Sequence[Kind]) -> list[Measure]:
        """Run some more rounds and leave clients out of each round's mean."""
        stage = self.simulation.experiment.stages[-1]
        method, seed = self.simulation.method(stage), self._seed("rounds")
        if not method.sends_model:
            raise ConfigError(
                f"the answers of {stage.method} bring no models under masks, so none "
                "can be left out of a mean; use --measure warm or full",
                code="FS4503",
            )
        sums: dict[int, Values] = {}
        shapley = list[Worth]()
        watched, gate = Remembering(method), gate_of(self.simulation, method)
        with self._engine(method, self.simulation.federation) as engine:
            before = method.init(self.weights, engine.clients(), seed)
            for done in run_rounds(watched, engine, before, self.rounds, gate):
                number = done.state.round
                if done.skipped:
                    raise ConfigError(_SKIPPED.format(number=number), code="FS4504")
                if watched.moved:
                    raise ConfigError(f"{stage.method} {_MOVED}", code="FS4503")
                self.say(f"round {number} of {self.rounds}, without each client")
                some = Coalitions(method, before, watched.taken(), self.score)
                for client, gain in some.marginals().items():
                    sums[client] = sums.get(client, 0) + gain / self.rounds
                if Kind.shapley in kinds and number == self.rounds:
                    self.say(f"{self.permutations} random orders of the clients")
                    added = some.shapley(self.permutations, 1e-3, seed)
                    shapley = _orders(some.clients, added)
                before = done.state
        about = _MARGINAL.format(rounds=_rounds(self.rounds))
        measures = [Measure("In-run marginal", about, self._intervals(sums))]
        if shapley:
            about = _SHAPLEY.format(orders=self.permutations)
            measures.append(Measure("Shapley value", about, shapley))
        return measures if Kind.marginal in kinds else measures[1:]

    def leave_one_out(self, warm: bool) -> Measure:
        """Train without each client: some rounds from here, or all from the start."""
        federation = self.simulation.federation
        # All rounds with everybody would give the saved model again, to the bit.
        whole = self.score(self._trained(federation, warm) if warm else self.weights)
        gains = {}
        for client in self._dispensable():
            self.say(f"training {'on' if warm else 'anew'} without client {client}")
            rest = federation.without(client)
            gains[client] = whole - self.score(self._trained(rest, warm))
        name = f"Leave one out, {'warm start' if warm else 'full'}"
        about = _WARM.format(rounds=_rounds(self.rounds)) if warm else _FULL
        return Measure(name, about, self._intervals(gains))

    @property
    def score(self) -> Scorer:
        """Score models by the log-likelihood of held-out labels, image by image."""
        stage = self.simulation.experiment.stages[-1]
        federation = self.simulation.federation
        held_out = federation.held_out or {0: federation.test}
        validator = Validator.of(held_out, self.simulation.setup(stage))
        assert validator is not None

        def score(weights: Weights) -> Values:
            labels = validator.held_out.labels
            probs = validator.probs(weights)[torch.arange(len(labels)), labels]
            return probs.double().clamp_min(1e-12).log().numpy()

        return score

    def _trained(self, federation: Federation, warm: bool) -> Weights:
        if not warm:
            simulation = replace(self.simulation, federation=federation)
            # Nobody looks at the curves, so nothing is tested on the way.
            judge = Judge(held_out=federation.held_out)
            *_, last = run_stages(
                simulation, lambda method, _: self._engine(method, federation), judge
            )
            return delivered(simulation.experiment, last)
        stage = self.simulation.experiment.stages[-1]
        method = self.simulation.method(stage)
        with self._engine(method, federation) as engine:
            first = method.init(self.weights, engine.clients(), self._seed("warm"))
            gate = gate_of(self.simulation, method)
            *_, after = run_rounds(method, engine, first, self.rounds, gate)
        return {name: value.clone() for name, value in after.state.weights.items()}

    def _engine(
        self, method: Method[Any], federation: Federation
    ) -> InProcess | Workers:
        return local_engine(method, federation.clients, self.workers)

    def _dispensable(self) -> Iterable[int]:
        """List the clients without which somebody still has labels."""
        clients = self.simulation.federation.clients
        labeled = [client.id for client in clients if client.num_labeled]
        return [client.id for client in clients if [client.id] != labeled]

    def _intervals(self, gains: dict[int, Values]) -> list[Worth]:
        """Draw the scored images with replacement, the same for every client."""
        size = len(next(iter(gains.values())))
        rng = np.random.default_rng(self._seed("images"))
        drawn = rng.integers(size, size=(_DRAWS, size))
        found = []
        for client in sorted(gains):
            ends = np.quantile(gains[client][drawn].mean(1), [0.025, 0.975])
            mean = float(gains[client].mean())
            found.append(Worth(client, mean, float(ends[0]), float(ends[1])))
        return found

    def _seed(self, name: str) -> int:
        return seed_of(self.simulation.experiment.seed, "value", name)


def value(run: Run, valuer: Valuer, kinds: Sequence[Kind]) -> dict[str, Any]:
    """Value all clients of a run, beside their contributions and data sizes.

    What was measured of the same model before, by other measures, is kept.
    """
    federation = valuer.simulation.federation
    result: dict[str, Any] = {
        "model_sha256": run.summary.get("model_sha256"),
        "scored_on": "held-out labels" if federation.held_out else "the test set",
    }
    measures = [contribution_of(run), data_size_of(federation)]
    if Kind.marginal in kinds or Kind.shapley in kinds:
        measures += valuer.marginal_and_shapley(kinds)
    measures += [
        valuer.leave_one_out(kind is Kind.warm) for kind in kinds if kind in _LOO
    ]
    known = _earlier(run, result) | {m.name: asdict(m) for m in measures}
    unlabeled = [c.id for c in federation.clients if c.num_unlabeled]
    columns = {name: _column(known[name], unlabeled) for name in NAMES if name in known}
    found = correlations(columns, seed_of(valuer.simulation.experiment.seed, "ranks"))
    return result | {
        "measures": [known[name] for name in columns],
        "correlations": [asdict(each) for each in found],
    }


def _earlier(run: Run, result: dict[str, Any]) -> dict[str, Any]:
    """Find measures that were taken before, of this model and by the same score."""
    if any(run.value.get(name) != value for name, value in result.items()):
        return {}
    return {measure["name"]: measure for measure in run.value["measures"]}


def contribution_of(run: Run) -> Measure:
    """Read each client's mean share in the rounds of the last stage."""
    last = [r.clients for r in run.records if r.stage == run.records[-1].stage]
    ids = sorted({id for clients in last for id in clients})
    worths = []
    for id in ids:
        shares = [c[id].contribution if id in c else 0.0 for c in last]
        worths.append(Worth(id, float(np.mean(shares))))
    about = "Mean share in the global model over the last stage, as the method set it."
    return Measure("Contribution", about, worths)


def data_size_of(federation: Federation) -> Measure:
    """Count each client's images."""
    sizes = [Worth(c.id, c.num_labeled + c.num_unlabeled) for c in federation.clients]
    return Measure("Data size", "Images of the client, labeled or not.", sizes)


def _orders(clients: Sequence[int], added: Values) -> list[Worth]:
    mean, error = added.mean(0), added.std(0, ddof=1) / len(added) ** 0.5
    return [
        Worth(client, float(m), float(m - 1.96 * e), float(m + 1.96 * e))
        for client, m, e in zip(clients, mean, error, strict=True)
    ]


def _column(measure: dict[str, Any], clients: Sequence[int]) -> Values:
    known = {worth["client"]: worth["value"] for worth in measure["values"]}
    return np.array([known.get(client, np.nan) for client in clients])


def _rounds(count: int) -> str:
    return "one more round" if count == 1 else f"{count} more rounds"


_LOO = (Kind.warm, Kind.full)
_UNIT = "in mean log-likelihood per image"
_MARGINAL = (
    f"How much worse a round's mean is without the client's answer, {_UNIT}, over "
    "{rounds}; interval: scored images drawn anew."
)
_SHAPLEY = (
    f"What the client's answer adds on joining the others in random order, {_UNIT}; "
    "interval: the {orders} random orders."
)
_WARM = (
    "How much worse the model is after {rounds} without the client, "
    f"{_UNIT}; interval: scored images drawn anew."
)
_MOVED = (
    "moves the model several times in a round, and clients learn from what others made "
    "of it, so no answer can be left out afterwards; use --measure warm or full"
)
_SKIPPED = (
    "round {number} from the saved model on was skipped, as too few answers could be "
    "used, so none of them is worth anything; use --measure warm or full"
)
_FULL = (
    f"How much worse the model is if trained without the client from the start, {_UNIT}"
    "; interval: scored images drawn anew, not the chance in training."
)
