"""A sweep over how different sites are, with a plot.

Run it with `python examples/sweep.py`; it takes some minutes on two cores and writes
sweep.png. With a number, `python examples/sweep.py 1`, each stage has so many rounds.
"""

import sys

from matplotlib.figure import Figure

import fedsemi

ROUNDS = int(sys.argv[1]) if sys.argv[1:] else 20
ALPHAS = (0.2, 0.8, 5.0)  # small values give each site few classes

figure = Figure()
axes = figure.subplots()
for method in ("uniform-semi", "semianagg"):
    accuracies = []
    for alpha in ALPHAS:
        sites = fedsemi.sites_from(
            "digits", num_clients=5, dirichlet_alpha=alpha, image_size=16, flip=False
        )
        run = fedsemi.simulate(
            sites,
            stages=[("supervised", 2 * ROUNDS), (method, ROUNDS)],
            local={"batch_size": 32, "loss": "balanced-softmax"},
            evaluation={"every": 5},
            out=f"runs/sweep/{method}-{alpha}",
            overwrite=True,
        )
        print(run)
        accuracies.append(run.accuracy)
    axes.plot(ALPHAS, accuracies, marker="o", label=method)
axes.set(xscale="log", xlabel="Dirichlet alpha", ylabel="accuracy")
axes.legend()
figure.savefig("sweep.png")
print("saved sweep.png")
