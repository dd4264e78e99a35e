"""SemiAnAgg from Python: ten sites, one with labels, a for loop.

Run it with `python examples/quickstart.py`; it takes about a minute on a CPU.
"""

from fedsemi.config.experiment import make_experiment
from fedsemi.simulation.build import build
from fedsemi.simulation.run import run_simulation
from fedsemi.use.session import available_cores

EXPERIMENT = {
    "data": {"name": "digits", "image_size": 16, "pre_size": 18, "flip": False},
    "partition": {"num_clients": 10, "labeled_clients": 1, "dirichlet_alpha": 0.8},
    "model": {"name": "resnet8"},
    "local": {"batch_size": 32, "loss": "balanced-softmax"},
    "stages": [
        {"method": "supervised", "rounds": 60},
        {"method": "semianagg", "rounds": 20},
    ],
}


def main() -> None:
    """Train, and print what each round gave."""
    simulation = build(make_experiment(EXPERIMENT))
    for step in run_simulation(simulation, workers=available_cores()):
        record = step.record
        shares = {id: f"{c.contribution:.0%}" for id, c in record.clients.items()}
        print(record.method, record.round, f"{record.test.accuracy:.1%}", shares)


if __name__ == "__main__":  # worker processes import this file
    main()
