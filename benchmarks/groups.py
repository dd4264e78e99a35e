"""What the guard finds in sums of groups, and what a server finds in those of rounds.

The runs are those of `fedsemi attack benchmarks/attacks.toml` with ten sites, masks and
`privacy.groups = 3`, the guard on. The last column is what a server that keeps all sums
solves for: by least squares, as if each site went the same way in all rounds. Told is
how the change of the head's bias that it finds of sites without labels goes with the
true one, over sites and classes; one sum over all sites tells nothing of that.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

import numpy as np
import numpy.typing as npt

from benchmarks.common import ROOT, Section
from fedsemi.config.experiment import load_config, make_experiment
from fedsemi.engine import WrappedEngine
from fedsemi.engines.in_process import one_thread
from fedsemi.messages import Answer, Task, Weights
from fedsemi.privacy import site_masks, unmasking
from fedsemi.privacy.fixed_point import from_fixed
from fedsemi.privacy.steps import to_integers
from fedsemi.runs.records import GroupRecord
from fedsemi.seeds import seed_of
from fedsemi.server.gates import gate_of
from fedsemi.server.rounds import run
from fedsemi.simulation.attack_suite import HONEST, attackers_of, warm_up
from fedsemi.simulation.attacked import AttackedEngine
from fedsemi.simulation.attacks import Scene
from fedsemi.simulation.build import Simulation, build

SEEDS, CLIPS, ATTACKS = (1, 2, 3), (100, 1), (HONEST, "flip", "scaled")
BIAS = "head.bias"
Rows = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Played:
    """The groups of each round, and what each site put into its group's sum."""

    groups: Sequence[Sequence[GroupRecord]]
    parts: Sequence[dict[int, Rows]]
    hostile: Sequence[int]
    bias: slice
    """Where the head's bias lies among the numbers."""


class Tapped(WrappedEngine):
    """Keeps what sites sum, which is not masked here."""

    def __init__(self, engine: AttackedEngine) -> None:
        super().__init__(engine)
        self.parts: list[dict[int, Rows]] = []

    def run(self, tasks: Sequence[Task]) -> Sequence[Answer]:
        """Carry out the tasks, and look."""
        answers: Sequence[Any] = self.engine.run(tasks)
        sums = {a.client: a.statistics.get("model") for a in answers}
        if all(each is not None for each in sums.values()):
            numbers = {id: to_integers(each, "model") for id, each in sums.items()}
            fixed = {id: from_fixed(each, "model") for id, each in numbers.items()}
            self.parts.append(fixed)
        return answers


def groups(times: int) -> Section:
    """Measure what is cut, of whom, and what all rounds together tell."""
    rows = []
    with TemporaryDirectory() as folder, one_thread():
        starts = {seed: warm_up(_built(seed, 100), Path(folder)) for seed in SEEDS}
        for clip in CLIPS:
            for attack in ATTACKS:
                played = [_played(s, clip, attack, starts[s]) for s in SEEDS]
                rows.append([f"{attack}, clip {clip}", *_cells(played)])
    columns = [
        "attack",
        "rounds with the attacker's group cut",
        "left of it, least to most",
        "honest sites cut with it, a round",
        "groups without it that were cut",
        "rounds until it alone was in all that were cut",
        "told by all rounds",
    ]
    text = f"Ten sites, three groups, eight rounds; by seeds {SEEDS}."
    return Section("Sums of groups, compared", text, columns, rows)


def _built(seed: int, clip: float, start: Path | None = None) -> Simulation:
    settings = {
        "seed": seed,
        "partition.num_clients": 10,
        "privacy.masked": "true",
        "privacy.plain_warm_up": "true",
        "privacy.clip": clip,
        "privacy.groups": 3,
        "guard.enabled": "true",
    }
    config = ROOT / "benchmarks" / "attacks.toml"
    given = [f"{name}={value}" for name, value in settings.items()]
    content = load_config(config, given).model_dump(mode="json", exclude_none=True)
    if start is not None:
        content |= {"start": str(start), "stages": content["stages"][1:]}
    return build(make_experiment(content))


def _played(seed: int, clip: float, attack: str, start: Path) -> Played:
    simulation = _built(seed, clip, start)
    (stage,) = simulation.experiment.stages
    method = simulation.method(stage)
    clients, setup = simulation.federation.clients, simulation.setup(stage)
    oracle, hostile = simulation.federation.oracle, attackers_of(simulation, attack)
    truth = oracle.truth if oracle else {}
    classes = simulation.model.num_classes
    scenes = {
        c.id: Scene(c, truth.get(c.id), setup, classes)
        for c in clients
        if c.id in hostile
    }
    with AttackedEngine(method, clients, attack, scenes) as inner, _bare_sums():
        engine = Tapped(inner)
        infos = [client.info for client in clients]
        weights = simulation.initial_weights()
        state = method.init(weights, infos, seed_of(seed, "stage", 0))
        gate = gate_of(simulation, method)
        done = [each.groups for each in run(method, engine, state, stage.rounds, gate)]
    liars = hostile if attack != HONEST else []
    return Played(done, engine.parts, liars, _place(weights))


@contextmanager
def _bare_sums() -> Iterator[None]:
    """Let all masks be zero: the same sums, and what goes into them can be seen."""
    with ExitStack() as patches:
        for module in (site_masks, unmasking):
            for name in ("add_mask", "subtract_mask"):
                patches.enter_context(patch.object(module, name))
        yield


def _cells(played: Sequence[Played]) -> list[str]:
    """Lay out what was found, seed by seed."""
    caught = [[_caught(groups, p.hostile) for groups in p.groups] for p in played]
    cut = [[each for each in some if each is not None] for some in caught]
    left = [group.part for some in cut for group in some]
    others = [
        sum(g.part < 1 and not {*g.clients} & {*p.hostile} for g in groups)
        for p in played
        for groups in p.groups
    ]
    company = [sum(len(g.summed) - 1 for g in c) for c in cut]
    number = sum(len(groups) for p in played for groups in p.groups)
    return [
        ", ".join(str(len(some)) for some in cut),
        f"{min(left):.2%} to {max(left):.2%}" if left else "–",
        f"{fmean(company) / len(played[0].groups):.1f}",
        f"{sum(others)} of {number}",
        ", ".join(_until_alone(some) for some in caught),
        ", ".join(f"{_told(each):.2f}" for each in played),
    ]


def _caught(
    groups: Sequence[GroupRecord], hostile: Sequence[int]
) -> GroupRecord | None:
    found = [g for g in groups if g.part < 1 and {*g.clients} & {*hostile}]
    return found[0] if found else None


def _until_alone(caught: Sequence[GroupRecord | None]) -> str:
    """Count rounds until one site alone was in every group that was cut."""
    suspects: set[int] | None = None
    for number, group in enumerate(caught, start=1):
        if group is not None:
            suspects = {*group.clients} & (suspects or {*group.clients})
            if len(suspects) == 1:
                return str(number)
    return "–"


def _told(played: Played) -> float:
    """Return how what is solved for goes with the truth."""
    ids = sorted(played.parts[0])
    pairs = zip(played.groups, played.parts, strict=True)
    equations, sums = [], []
    for groups, parts in pairs:
        for group in groups:
            equations.append([float(id in group.summed) for id in ids])
            sums.append(np.sum([parts[id][:-1] for id in group.summed], axis=0))
    found = np.linalg.pinv(np.array(equations)) @ np.array(sums)
    true = np.mean([[parts[id][:-1] for id in ids] for parts in played.parts], axis=0)
    # Site 0 has the labels.
    return _together(found[1:, played.bias], true[1:, played.bias])


def _together(one: Rows, other: Rows) -> float:
    """Correlate two tables after what all rows have in common is taken off."""
    one, other = one - one.mean(0), other - other.mean(0)
    return float((one * other).sum() / np.sqrt((one**2).sum() * (other**2).sum()))


def _place(weights: Weights) -> slice:
    """Say where the head's bias lies among all numbers."""
    names = sorted(k for k, v in weights.items() if v.is_floating_point())
    before = sum(weights[k].numel() for k in names[: names.index(BIAS)])
    return slice(before, before + weights[BIAS].numel())
