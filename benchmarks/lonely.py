"""What the guard leaves to an honest site that alone has classes, and to a liar.

python -m benchmarks.lonely --seed 1      # writes benchmarks/attacks/lonely-1.jsonl

`python -m benchmarks.attacks table` puts the records on the page of attacks.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from statistics import fmean
from typing import Any

from fedsemi.config.experiment import make_experiment
from fedsemi.data.client import Client
from fedsemi.engines.in_process import one_thread
from fedsemi.method import Method
from fedsemi.server.stages import Judge, run_stages
from fedsemi.simulation.attack_suite import HONEST, LAST
from fedsemi.simulation.attacked import AttackedEngine
from fedsemi.simulation.attacks import Scene
from fedsemi.simulation.build import build
from fedsemi.simulation.run import run_simulation
from fedsemi.storage import make_folder, write_weights

HERE = Path(__file__).parent
RECORDS = HERE / "attacks"
CONTENT = {
    "data": {"name": "digits", "image_size": 8, "flip": False},
    "partition": {"scheme": "rare-classes"}
    | {"rare": {"holders": 1, "labeled_size": 200, "site_size": 60}},
    "model": {"name": "resnet8", "width": 8},
    "local": {"batch_size": 32},
    "evaluation": {"validation_fraction": 0.3},
}
WARM_UP = {"method": "supervised", "rounds": 30, "local": {"batch_size": 16}}
STAGE = {"method": "semianagg", "rounds": 12}
LONELY = 1
"""The one holder of the digits 5 to 9."""
LIAR = 5
"""One of the eight others."""
RULES = ("off", "cap only", "cap and trust")


@dataclass(frozen=True)
class Case:
    """How one run ended."""

    seed: int
    rule: str
    """The guard off; on, but without held-out labels, so that a cap stays as it is;
    or on with them."""
    attack: str
    lonely: float
    """Mean share of the honest site that alone has classes, in the last rounds."""
    liar: float
    """Mean share of the other one, in the last rounds."""
    balanced_accuracy: float
    returned: int


def cases(seed: int, out: Path) -> Iterator[Case]:
    """Warm up once; then every rule, with an honest site 5 and with a liar there."""
    built = build(make_experiment({**CONTENT, "seed": seed, "stages": [WARM_UP]}))
    (*_, last) = run_simulation(built)
    start = out / f"lonely-{seed}.safetensors"
    write_weights(start, last.weights)
    for attack in (HONEST, "flip+lie", "just-under"):
        for rule in RULES:
            content = {**CONTENT, "seed": seed, "start": str(start), "stages": [STAGE]}
            guard = {"guard": {"enabled": rule != "off"}}
            simulation = replace(built, experiment=make_experiment(content | guard))
            federation = simulation.federation
            setup = simulation.setup(simulation.experiment.stages[0])
            client = federation.clients[LIAR]
            assert federation.oracle is not None
            truth = federation.oracle.truth[LIAR]
            scenes = {LIAR: Scene(client, truth, setup, simulation.model.num_classes)}
            held_out = federation.held_out if rule == RULES[-1] else {}
            engine = partial(_engine, federation.clients, attack, scenes)
            steps = run_stages(simulation, engine, Judge(federation.test, held_out))
            records = [step.record for step in steps]
            ends = [r for r in records[-LAST:] if r.test is not None]
            yield Case(
                seed,
                rule,
                attack,
                fmean(r.clients[LONELY].contribution for r in ends),
                fmean(r.clients[LIAR].contribution for r in ends),
                fmean(r.test.balanced_accuracy for r in ends if r.test),
                sum(n.code == "FS2141" for r in records for n in r.notices),
            )


def _engine(
    clients: Sequence[Client],
    attack: str,
    scenes: Mapping[int, Scene],
    method: Method[Any],
    stage: int,
) -> AttackedEngine:
    return AttackedEngine(method, clients, attack, scenes)


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    seed = parser.parse_args().seed
    out = make_folder(HERE.parent / "runs" / "attacks")
    RECORDS.mkdir(exist_ok=True)
    with one_thread(), (RECORDS / f"lonely-{seed}.jsonl").open("w") as file:
        for case in cases(seed, out):
            file.write(json.dumps(asdict(case)) + "\n")
            file.flush()


if __name__ == "__main__":
    main()
