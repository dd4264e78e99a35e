"""The paper's twelve figures: which experiments each plot needs."""

from __future__ import annotations

from fedsemi.evidence.catalogue import Artifact, Chart, Setting, measure_of, setting
from fedsemi.evidence.tables import TABLES

_BARE = ("no-picture",)
_COMPARED = ("fedavg", "fedavg-semi", "cbafed", "semianagg")


def _settings(dataset: str, *arms: str, **partition: object) -> tuple[Setting, ...]:
    return tuple(setting(dataset, arm, **partition) for arm in arms)


def _leave_one_out(dataset: str, num_clients: int = 10) -> Chart:
    """Plot what is lost without each unlabeled client; client 0 has the labels."""
    whole = setting(dataset, "semianagg")
    rest = tuple(
        Setting(dataset, "semianagg", (), without) for without in range(1, num_clients)
    )
    metric = measure_of(dataset)
    title = f"{metric.replace('_', ' ').capitalize()} lost without each client"
    return Chart("leave-one-out", title, (whole, *rest), metric)


def _convergence(dataset: str) -> tuple[Chart, ...]:
    ours = _settings(dataset, "semianagg")
    return (
        Chart("pseudo-labels", "Pseudo-label accuracy by client", ours),
        Chart("contributions", "Contribution of unlabeled clients", ours),
        _leave_one_out(dataset),
    )


def _warm_ups() -> tuple[Chart, ...]:
    methods = ("rscfed", "cbafed", "semianagg")
    labels = _settings("cifar100-lt", *methods)
    barlow = _settings("cifar100-lt", *(f"barlow-{name}" for name in methods))
    return (
        Chart("curves", "CIFAR-100-LT, accuracy, warm-up on labels", labels),
        Chart("curves", "CIFAR-100-LT, accuracy, self-supervised warm-up", barlow),
    )


def _ablation() -> tuple[Chart, ...]:
    arms = ("fedavg-semi", "uniform", "semianagg")
    svhn, isic = _settings("svhn", *arms), _settings("isic18", *arms)
    return (
        Chart("curves", "SVHN, accuracy", svhn),
        Chart("curves", "ISIC-18, accuracy", isic),
        Chart("curves", "ISIC-18, balanced accuracy", isic, "balanced_accuracy"),
    )


def _anchors() -> tuple[Chart, ...]:
    arms = ("fedavg-semi", "semianagg", "semianagg-anchor-2")
    svhn, isic = _settings("svhn", *arms), _settings("isic18", *arms)
    return (
        Chart("curves", "SVHN, accuracy", svhn),
        Chart("curves", "ISIC-18, balanced accuracy", isic, "balanced_accuracy"),
    )


def _two_labeled() -> tuple[Chart, ...]:
    arms = ("rscfed", "cbafed", "semianagg")
    one = _settings("isic18", *arms)
    two = _settings("isic18", *arms, labeled_clients=2)
    title = "One and two labeled clients, balanced accuracy"
    return (Chart("bars", title, one + two, "balanced_accuracy"),)


def _partial() -> tuple[Chart, ...]:
    both = _settings("svhn", "cbafed", "semianagg", labeled_fraction=0.1)
    return (
        Chart("curves", "SVHN, accuracy", both),
        Chart("curves", "SVHN, AUC", both, "auc"),
    )


def _priors() -> tuple[Chart, ...]:
    arms = ("ssil-cdm-labeled-prior", "ssil-cdm", "fedavg-semi")
    return (Chart("curves", "SVHN, accuracy", _settings("svhn", *arms)),)


def _figure(
    number: int, title: str, charts: tuple[Chart, ...], *notes: str
) -> tuple[str, Artifact]:
    name = f"fig{number}"
    return name, Artifact(name, title, charts=charts, notes=notes + _BARE)


FIGURES: dict[str, Artifact] = dict(
    [
        _figure(
            1,
            "Aggregation against the state of the art, and leave one out (SVHN)",
            (
                Chart("curves", "SVHN, accuracy", _settings("svhn", *_COMPARED)),
                _leave_one_out("svhn"),
            ),
            "loo-two",
        ),
        _figure(2, "How SemiAnAgg weighs clients: a worked example", (), "rule"),
        _figure(3, "Two random anchors", _anchors()),
        _figure(4, "Convergence on SVHN", _convergence("svhn"), "log-order", "loo-two"),
        _figure(5, "From one to two labeled clients, ISIC-18", _two_labeled()),
        _figure(6, "Warm-up on labels or without them", _warm_ups()),
        _figure(
            7,
            "Self-supervised warm-up on CIFAR-100",
            (
                Chart(
                    "curves",
                    "Online head, accuracy",
                    _settings("cifar100", "orchestra-online", "fedbarlow-online"),
                ),
            ),
        ),
        _figure(8, "With and without SemiAnAgg", _ablation()),
        _figure(9, "Convergence on ISIC-18", _convergence("isic18"), "log-order"),
        _figure(10, "Partially labeled clients on SVHN", _partial()),
        _figure(
            11,
            "Who owns which classes",
            (
                Chart("classes", "SVHN", _settings("svhn", "semianagg")),
                Chart("classes", "ISIC-18", _settings("isic18", "semianagg")),
            ),
        ),
        _figure(12, "Priors of ACR on SVHN", _priors()),
    ]
)

CATALOGUE: dict[str, Artifact] = TABLES | FIGURES
"""Everything, by name."""
