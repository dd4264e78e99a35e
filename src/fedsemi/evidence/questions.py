"""The questions of docs/questions.md: which runs decide each of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace

from fedsemi.evidence.arms import ARMS, SHARES, TRIED
from fedsemi.evidence.catalogue import (
    Artifact,
    Cell,
    Setting,
    measure_of,
    setting,
)

HOLDERS, LABELS = (1, 2, 4), (50, 200, 1000)
FEW_HOLDERS = HOLDERS[:2]
"""With so many weights act; rules are chosen and judged there."""
MAIN: dict[str, object] = {"rare.holders": 1, "rare.labeled_size": 200}
"""The cell of the map that is looked at from all sides."""

FEW_LABELS: dict[str, object] = {"labeled_fraction": 0.1}
"""Every site has labels for a tenth of its images, as in Tables 2 and 7."""

RULES = ("class-mass", "presence-floor", "class-mass-floor", "presence-double")
"""Those that may be chosen instead of Eq. 4, simpler ones first."""

CHOSEN = "class-mass"
"""The one that was chosen by Q6's rule; a test chooses it again from the records."""

CHOOSING = "choosing"
"""The profile whose seeds settings are chosen with, by which nothing is judged."""

TUNED = {"isic18": 5, "svhn": 3}
"""Where published methods are tuned, and with how many seeds they are judged."""

MNIST_SEEDS = 10
"""Planned there, where a run takes a minute; elsewhere as many as the profile has."""

_WEIGHTS = ("uniform", "presence", "semianagg", "semianagg-released", "permuted")
_BOUNDS = ("warm-up", "lower", "upper")
_WORDS: dict[str, Callable[[object], str]] = {
    "rare.holders": lambda n: f"{n} holder{'' if n == 1 else 's'}",
    "rare.labeled_size": lambda n: f"{n} labels",
    "rare.skew": lambda share: f"skew {share}",
    "num_clients": lambda n: f"{n} clients",
    "labeled_fraction": lambda part: f"labeled fraction {part}",
}


def _cells(dataset: str, arms: tuple[str, ...], **partition: object) -> Iterator[Cell]:
    condition = ", ".join(_WORDS[key](value) for key, value in partition.items())
    for arm in arms:
        chosen = setting(dataset, arm, **partition)
        metric = measure_of(dataset)
        yield Cell(ARMS[arm].title, chosen, metric=metric, condition=condition)


def _map() -> Iterator[Mapping[str, object]]:
    """Walk the map: labels against holders, then skew and the number of sites."""
    for holders in HOLDERS:
        for labels in LABELS:
            yield MAIN | {"rare.holders": holders, "rare.labeled_size": labels}
        base = MAIN | {"rare.holders": holders}
        yield base | {"rare.skew": 0.5}
        yield base | {"num_clients": 20}


def _weights(name: str, dataset: str, question: str) -> Artifact:
    """Q1, and Q2 beside it: every control of the weights, as the paper draws sites."""
    arms = (*_BOUNDS, "fedavg-semi", *_WEIGHTS)
    tests = (setting(dataset, "semianagg"),)
    return Artifact(name, question, tuple(_cells(dataset, arms)), tests=tests)


def _few_holders() -> Artifact:
    """Q2 where weights act."""
    return Artifact(
        "q2",
        "The same where one site alone holds half of the classes",
        tuple(_cells("mnist", (*_BOUNDS, *_WEIGHTS), **MAIN)),
        tests=(setting("mnist", "semianagg", **MAIN),),
    )


def _when() -> Artifact:
    cells = [
        cell
        for place in _map()
        for cell in _cells("mnist", ("uniform", "semianagg"), **place)
    ]
    tests = tuple(setting("mnist", "semianagg", **place) for place in _map())
    return Artifact("q3", "When does weighting matter?", tuple(cells), tests=tests)


def _dose() -> Artifact:
    arms = (
        "uniform",
        "presence-half",
        "presence",
        "presence-double",
        "presence-fourfold",
    )
    return Artifact(
        "q3-dose",
        "How much weight does a site need that alone holds classes?",
        tuple(_cells("mnist", arms, **MAIN)),
    )


def _labeled_share() -> Artifact:
    arms = ("uniform", "uniform-share-70", "uniform-share-30", "uniform-share-15")
    cells = [*_cells("mnist", arms, **MAIN)]
    cells += [cell for dataset in ("isic18", "svhn") for cell in _cells(dataset, arms)]
    return Artifact(
        "q4",
        "Does the labeled share matter more than the weights?",
        tuple(cells),
    )


def _held_out() -> Artifact:
    """The rest of Q4: the share is chosen without test labels."""
    arms = tuple(f"held-out-share-{share}" for share in SHARES)
    return Artifact(
        "q4-held-out",
        "Can the labeled share be set by labels held out at the labeled site?",
        (*_cells("isic18", arms), *_cells("mnist", arms, **MAIN)),
    )


def _ramp() -> Artifact:
    """Once more Q4: the share moves from round to round."""
    arms = ("uniform", "uniform-share-falling", "uniform-share-rising")
    return Artifact(
        "q4-ramp",
        "Should the labeled share fall as pseudo-labels get better?",
        (*_cells("isic18", arms), *_cells("mnist", arms, **MAIN)),
    )


def _worth() -> Artifact:
    whole = setting("mnist", "semianagg", **MAIN)
    rest = [Setting(whole.dataset, whole.arm, whole.partition, k) for k in range(1, 10)]
    cells = [Cell("SemiAnAgg, all sites", whole)]
    cells += [Cell(f"without site {each.without}", each) for each in rest]
    return Artifact("q5", "Do contributions track worth?", tuple(cells))


def _rules() -> Artifact:
    """Q6, from which a rule is chosen: with the seeds of the profile `choosing`."""
    arms = ("uniform", "semianagg", "presence", *RULES)
    title = "Which rule shares out the unlabeled half best?"
    return Artifact("q6", title, tuple(_with_few_holders(arms)))


def _with_few_holders(arms: tuple[str, ...]) -> Iterator[Cell]:
    for holders in FEW_HOLDERS:
        yield from _cells("mnist", arms, **MAIN | {"rare.holders": holders})


def _confirmed() -> Artifact:
    """The rest of Q6: the rule that was chosen, on partitions that chose nothing."""
    arms = ("uniform", "semianagg", CHOSEN)
    cells = [*_with_few_holders(arms)]
    cells += [cell for dataset in ("svhn", "isic18") for cell in _cells(dataset, arms)]
    title = "Does the rule that was chosen beat equal shares and Eq. 4?"
    return Artifact("q6-confirm", title, tuple(cells))


def _tuned() -> Artifact:
    """Q7, from which settings of published methods are chosen, as Q6.

    On SVHN the published ones were enough to answer it.
    """
    every = tuple(arm for arms in TRIED.values() for arm in arms)
    asked = {"isic18": every, "svhn": tuple(TRIED)}
    cells = [c for name in TUNED for c in _cells(name, ("lower", *asked[name]))]
    return Artifact(
        "q7",
        "Are published methods above labels alone once tuned?",
        tuple(cells),
        planned=tuple(TUNED.items()),
    )


def _beyond_averaging() -> Artifact:
    """Q8: equal shares against labels alone, after the same warm-up.

    With two holders there is nothing but what Eq. 4 adds.
    """
    arms = ("warm-up", "lower", "labels-on", "uniform", "semianagg")
    cells = [*_everywhere(arms)]
    two = MAIN | {"rare.holders": 2}
    cells += _cells("mnist", ("labels-on", "semianagg"), **two)
    title = "Do unlabeled sites bring more than averaging the model does?"
    return Artifact("q8", title, tuple(_by_both(cells)))


def _by_turns() -> Artifact:
    """Q9: SemiFL's turns against equal shares, and against labels as long."""
    arms = ("labels-on-5", "uniform", "semifl")
    title = "Is it better that sites with labels learn after the others?"
    # What weights bring where they matter, beside labels alone as long.
    cells = [*_everywhere(arms), *_cells("mnist", ("semianagg",), **MAIN)]
    return Artifact("q9", title, tuple(_by_both(cells)))


def _balanced() -> Artifact:
    """Q10: the loss on pseudo-labels, under equal shares and under Eq. 4.

    Eq. 4 with the plain loss is asked where the whole network is trained.
    """
    arms = ("labels-on", "uniform-plain", "uniform-balanced", "semianagg-balanced")
    whole = (*arms, "semianagg-plain")
    cells = [*_with_few_holders(whole), *_cells("svhn", whole)]
    for dataset in ("isic18", "cifar100"):
        cells += _cells(dataset, arms)
    title = "Is it better to learn pseudo-labels with balanced softmax?"
    return Artifact("q10", title, tuple(_by_both(cells)))


def _collapse() -> Artifact:
    """Q11: where CBAFed collapses, the same without the rule for rare classes."""
    arms = ("lower", "cbafed", "cbafed-first-choice")
    title = "Is it the second choice that ruins CBAFed where sites have few labels?"
    return Artifact("q11", title, tuple(_cells("isic18", arms, **FEW_LABELS)))


def _everywhere(arms: tuple[str, ...]) -> Iterator[Cell]:
    yield from _cells("mnist", arms, **MAIN)
    for dataset in ("svhn", "isic18", "cifar100"):
        yield from _cells(dataset, arms)


def _by_both(cells: Iterable[Cell]) -> Iterator[Cell]:
    """Put the running mean, which decides, beside the model itself."""
    for cell in cells:
        yield cell
        yield replace(cell, averaged=True)


_ALL = (
    _weights(
        "q1",
        "svhn",
        "Do SemiAnAgg's shares beat equal ones where sites are drawn as in the paper?",
    ),
    _weights(
        "q1-isic18",
        "isic18",
        "Do SemiAnAgg's shares beat equal ones on ISIC-18, on a frozen encoder?",
    ),
    _weights(
        "q1-cifar100",
        "cifar100",
        "Do SemiAnAgg's shares beat equal ones on CIFAR-100, on a frozen encoder?",
    ),
    _weights(
        "q1-cifar100-lt",
        "cifar100-lt",
        "Do SemiAnAgg's shares beat equal ones on CIFAR-100-LT, on a frozen encoder?",
    ),
    _few_holders(),
    _when(),
    _dose(),
    _labeled_share(),
    _held_out(),
    _ramp(),
    _worth(),
    _rules(),
    _confirmed(),
    _tuned(),
    _beyond_averaging(),
    _by_turns(),
    _balanced(),
    _collapse(),
)
QUESTIONS: dict[str, Artifact] = {
    each.name: replace(each, planned=(("mnist", MNIST_SEEDS), *each.planned))
    for each in _ALL
}
