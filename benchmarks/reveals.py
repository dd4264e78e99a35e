"""What one answer of a site reveals: attackers who guess its class histogram.

Sites of drawn class histograms answer one honest round. A coordinator simulates such
answers with images of its own, learns to read histograms from them, and is judged on
sites whose images it has never seen. The strongest of several attackers counts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import mean
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import RidgeCV
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from benchmarks.common import Section
from fedsemi.client.wire import USUAL_METRICS
from fedsemi.data.augment import Views
from fedsemi.data.client import Client
from fedsemi.data.dataset import ImageSet
from fedsemi.data.datasets import load
from fedsemi.messages import CLASS_COUNT, DIVERSITY, ClientInfo, Task, Update, Weights
from fedsemi.methods import METHODS
from fedsemi.models import ModelSpec
from fedsemi.objectives.workbench import LocalTraining, Setup
from fedsemi.seeds import seed_of

Table = npt.NDArray[np.float64]

CLASSES, IMAGES = 10, 128
SEEDS = (1, 2, 3)
SIMULATED, JUDGED = 200, 100
"""Sites that an attacker learns from, and those that it is judged on."""
ALPHA = 0.3
"""Of the Dirichlet distribution that histograms are drawn from."""
ATTACKERS = ("linear", "forest", "nearest", "analytic")
SENT = USUAL_METRICS.union(*(method.own_metrics for method in METHODS.own.values()))
"""Names of the numbers that sites send for the log."""


@dataclass(frozen=True)
class Bench:
    """Everything that the sites of one seed share."""

    setup: Setup
    mine: ImageSet
    """The coordinator's own images."""
    theirs: ImageSet
    """Images of the sites that it is judged on."""
    fresh: Weights
    seed: int

    def site(self, number: int) -> tuple[Client, Table]:
        """Draw a labeled site, and say which share of it each class has."""
        random = np.random.default_rng(seed_of(self.seed, "site", number))
        pool = self.mine if number < SIMULATED else self.theirs
        counts = random.multinomial(IMAGES, random.dirichlet([ALPHA] * CLASSES))
        labels = pool.labels.numpy()
        rows = [
            random.choice(np.flatnonzero(labels == c), count)
            for c, count in enumerate(counts)
        ]
        index = torch.from_numpy(random.permutation(np.concatenate(rows)))
        images = pool.images[index]
        return Client(1, images, pool.labels[index], images[:0]), counts / IMAGES


def make_bench(seed: int) -> Bench:
    """Share the digits among the coordinator and the sites."""
    train = load("digits").train
    order = torch.from_numpy(np.random.default_rng(seed).permutation(len(train)))
    mine, theirs = (
        ImageSet(train.images[half], train.labels[half]) for half in order.chunk(2)
    )
    channels = train.images.shape[1]
    views = Views(8, 10, (0.5,) * channels, (0.25,) * channels, flip=False)
    model = ModelSpec("resnet8", CLASSES, channels, 8, 8)
    setup = Setup(model, views, LocalTraining(batch_size=32))
    return Bench(setup, mine, theirs, dict(model.build(seed).state_dict()), seed)


def warmed(bench: Bench) -> Weights:
    """Train on the coordinator's images for five epochs."""
    images = bench.mine.images
    client = Client(0, images, bench.mine.labels, images[:0])
    setup = replace(bench.setup, local=replace(bench.setup.local, epochs=5))
    task = Task(0, 0, bench.fresh, seed=bench.seed)
    update, _ = METHODS["supervised"](setup).train(task, client, {})
    return update.weights


def asked(bench: Bench, method: str, weights: Weights) -> Callable[[Client], Update]:
    """Return what answers one honest task of the method at a site."""
    learner: Any = METHODS[method](bench.setup)
    infos = [ClientInfo(0, IMAGES, 0), ClientInfo(1, IMAGES, IMAGES)]
    state = learner.init(weights, infos, bench.seed)
    if method == "cbafed":  # as after its first question, for the counts of labels
        counts = torch.full((CLASSES,), IMAGES / CLASSES, dtype=torch.float64)
        state = replace(state, class_count=counts)
    task = next(task for task in learner.plan(state) if task.client == 1)

    def answer(client: Client) -> Update:
        update, _ = learner.train(task, client, {})
        return update

    return answer


def hidden(client: Client) -> Client:
    """Take the labels away."""
    images = client.labeled_images
    return Client(client.id, images[:0], client.labels[:0], images)


def sources(update: Update, before: Weights) -> dict[str, Table]:
    """Lay out what an answer holds, by what an attacker may look at."""
    change = {
        key: (value - before[key]).flatten().double().numpy()
        for key, value in update.weights.items()
        if value.is_floating_point()
    }
    # A site does not send what it has nothing of.
    metrics = [update.metrics.get(key, 0.0) for key in sorted(SENT)]
    found = {
        "counts and metrics": np.array([update.num_pseudo, *metrics], dtype=np.float64),
        "the head's bias": change["head.bias"],
        "the whole head": _joined(change, "head."),
        "batch-norm statistics": _joined(change, "encoder.", "running_"),
        "the whole model": _joined(change, ""),
    }
    for name, title in ((DIVERSITY, "diversities"), (CLASS_COUNT, "class counts")):
        if name in update.statistics:
            found[title] = update.statistics[name].double().numpy()
    return found


def _joined(change: Mapping[str, Table], start: str, holds: str = "") -> Table:
    keys = [key for key in change if key.startswith(start) and holds in key]
    return np.concatenate([change[key] for key in keys])


def guesses(seen: Table, truth: Table, judged: Table, seed: int) -> dict[str, Table]:
    """Let each attacker learn from simulated sites and guess the judged ones."""
    attackers = {
        "linear": RidgeCV(np.logspace(-3, 5, 17)),
        "forest": RandomForestRegressor(100, max_features="sqrt", random_state=seed),
        "nearest": KNeighborsRegressor(5, weights="distance"),
    }
    return {
        name: make_pipeline(StandardScaler(), attacker).fit(seen, truth).predict(judged)
        for name, attacker in attackers.items()
    }


def inverted(bench: Bench, weights: Weights, change: Table) -> Table:
    """Read shares off the bias without learning: the gradient is p minus the share.

    What the model predicts on average is taken from the coordinator's own images; the
    steps count as much as momentum lets them.
    """
    local = bench.setup.local
    model = bench.setup.load(weights).train()
    with torch.no_grad():
        logits = model(bench.setup.views.clean(bench.mine.images[:256])).logits
    expected = logits.double().softmax(1).mean(0).numpy()
    steps = local.epochs * -(-IMAGES // local.batch_size)
    geometric = [(1 - local.momentum**t) / (1 - local.momentum) for t in _from_1(steps)]
    shares: Table = expected + change / (local.lr_labeled * sum(geometric))
    return shares


def _from_1(count: int) -> range:
    return range(1, count + 1)


def fit(guess: Table, truth: Table, known: Table) -> float:
    """Return R², pooled over classes; 0 is as good as the mean of simulated sites."""
    missed = ((guess - truth) ** 2).sum()
    return float(1 - missed / ((truth - known.mean(0)) ** 2).sum())


def largest(guess: Table, truth: Table) -> float:
    """Return how often the most frequent class is guessed."""
    return float((guess.argmax(1) == truth.argmax(1)).mean())


Scores = dict[tuple[str, str], tuple[float, float]]
"""By source and attacker: R², and how often the largest class is right."""


def scores(bench: Bench, method: str, labeled: bool, weights: Weights) -> Scores:
    """Let sites answer, and attackers guess."""
    answer = asked(bench, method, weights)
    seen: dict[str, list[Table]] = {}
    truth = []
    for number in range(SIMULATED + JUDGED):
        client, shares = bench.site(number)
        update = answer(client if labeled else hidden(client))
        for name, row in sources(update, weights).items():
            seen.setdefault(name, []).append(row)
        truth.append(shares)
    known, wanted = np.array(truth[:SIMULATED]), np.array(truth[SIMULATED:])
    found: Scores = {}
    for name, rows in seen.items():
        table = np.array(rows)
        made = guesses(table[:SIMULATED], known, table[SIMULATED:], bench.seed)
        if labeled and name == "the head's bias":
            made["analytic"] = inverted(bench, weights, table[SIMULATED:])
        if name == "class counts":
            sums = table[SIMULATED:].sum(1, keepdims=True).clip(1)
            made["analytic"] = table[SIMULATED:] / sums
        for attacker, guess in made.items():
            found[name, attacker] = fit(guess, wanted, known), largest(guess, wanted)
    return found


CASES = {
    "labeled, round 1": ("supervised", True, False),
    "labeled, later": ("supervised", True, True),
    "unlabeled, SemiAnAgg": ("semianagg", False, True),
    "unlabeled, CBAFed": ("cbafed", False, True),
}
"""By name: the method, whether the site has labels, whether the model is trained."""


def reveals(times: int) -> Section:
    """How well a site's class histogram is guessed from one answer."""
    benches = [make_bench(seed) for seed in SEEDS[:times]]
    rows = []
    for case, (method, labeled, late) in CASES.items():
        found = [
            scores(bench, method, labeled, warmed(bench) if late else bench.fresh)
            for bench in benches
        ]
        for source in dict.fromkeys(name for name, _ in found[0]):
            rows.append([case, source, *_cells(found, source)])
    return Section(
        "What a site reveals",
        f"R² of the class histogram of {JUDGED} sites with {IMAGES} digits each "
        f"(Dirichlet({ALPHA})), guessed from one honest round by attackers that saw "
        f"{SIMULATED} simulated sites with other images; mean of {len(benches)} seeds, "
        "and for the strongest attacker the range. Largest class: how often the "
        "strongest attacker names it.",
        ["site", "looks at", *ATTACKERS, "strongest", "R²", "largest class"],
        rows,
    )


def _cells(found: Sequence[Scores], source: str) -> list[str]:
    by = {
        attacker: [each[source, attacker] for each in found]
        for attacker in ATTACKERS
        if (source, attacker) in found[0]
    }
    best = max(by, key=lambda attacker: mean(r2 for r2, _ in by[attacker]))
    r2, right = zip(*by[best], strict=True)
    return [
        *(f"{mean(r for r, _ in by[a]):.2f}" if a in by else "–" for a in ATTACKERS),
        best,
        f"{mean(r2):.2f} ({min(r2):.2f}–{max(r2):.2f})",
        f"{mean(right):.0%}",
    ]
