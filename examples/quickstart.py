"""SemiAnAgg from Python: ten sites, one with labels.

Run it with `python examples/quickstart.py`; it takes about a minute on two cores. With
a number, `python examples/quickstart.py 2`, each stage has only so many rounds: over in
seconds, and the model is poor.
"""

import sys

import fedsemi

warm_up, rounds = [int(sys.argv[1])] * 2 if sys.argv[1:] else (60, 20)

sites = fedsemi.sites_from(
    "digits",
    num_clients=10,
    labeled_clients=1,
    dirichlet_alpha=0.8,
    image_size=16,
    flip=False,
)
print(sites)

run = fedsemi.simulate(
    sites,
    model="resnet8",
    stages=[("supervised", warm_up), ("semianagg", rounds)],
    local={"batch_size": 32, "loss": "balanced-softmax"},
)
print(run)
print(run.scores[-3:])  # a row for each test
print(run.contributions[-10:])  # a row for each round and client
print(run.report("report.html"))
