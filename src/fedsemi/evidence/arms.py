"""The arms of a comparison: which stages make each row of a table.

An arm says which methods run one after the other and what differs in them; how many
rounds, on which data and with which network is the profile's business.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from fedsemi.errors import ConfigError, nearest
from fedsemi.methods import METHODS
from fedsemi.objectives.workbench import Loss


@dataclass(frozen=True)
class Step:
    """One stage of an arm; its rounds are a key of the profile."""

    method: str
    rounds: str
    settings: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Arm:
    """A row's stages. All but the last are the warm-up, which arms share."""

    title: str
    steps: tuple[Step, ...]
    partition: Mapping[str, Any] = field(default_factory=dict)
    """What the arm itself changes in who has labels."""
    evaluation: Mapping[str, Any] = field(default_factory=dict)
    """What it changes in which labels are held out."""
    probes: bool = False
    """Whether a linear probe of the last encoder is part of the record."""


WARM_UP = Step("supervised", "warm_up")
_CLIPPED = {"local": {"clip": "all"}}
_CBAFED_WARM_UP = Step("cbafed-warmup", "warm_up", _CLIPPED)
_HEAD = Step(
    "head-only", "head", {"local": {"lr_labeled": 0.1, "loss": "balanced-softmax"}}
)
_ALL_LABELS: dict[str, Any] = {"labeled_clients": "all", "labeled_fraction": None}
SHARES = (70, 50, 30, 15)
"""Labeled shares in percent, from which one is chosen by labels held out."""
USUAL = 50
"""The one that the paper has."""
FLEX = "flexmatch"
SOFT = "softmatch"
_SHARED = {"selection": FLEX}


def _semi(
    title: str, method: str, selection: str = FLEX, loss: Loss | None = None, **own: Any
) -> Arm:
    """Make an arm of the averaging family, which shares the local learner.

    The loss on pseudo-labels is the profile's unless the arm has one.
    """
    learner = {"selection": selection} | ({"loss": loss} if loss else {})
    return Arm(title, (WARM_UP, Step(method, "rounds", {"learner": learner, **own})))


def with_share(percent: int) -> str:
    """Name the arm of equal weights with that labeled share.

    >>> with_share(50), with_share(30)
    ('uniform', 'uniform-share-30')
    """
    return "uniform" if percent == USUAL else f"uniform-share-{percent}"


def _ramp(start: float, end: float) -> Arm:
    """Make an arm of equal weights whose labeled share moves in fifteen rounds."""
    return _semi(
        f"Uniform, labeled share {start} to {end}",
        "uniform-semi",
        labeled_share=start,
        labeled_share_end=end,
        ramp_rounds=15,
    )


def _held_out(percent: int) -> Arm:
    """Make an arm of equal weights that keeps a fifth of the labels to judge by."""
    share = percent / 100
    title = f"Uniform, a fifth of the labels held out, labeled share {share}"
    made = _semi(title, "uniform-semi", labeled_share=share)
    return replace(made, evaluation={"validation_fraction": 0.2})


def _own(title: str, method: str, **settings: Any) -> Arm:
    """Make an arm of a method with a local learner of its own."""
    return Arm(title, (WARM_UP, Step(method, "rounds", settings)))


def _after(encoder: str, title: str, method: str, **settings: Any) -> Arm:
    """Make an arm whose warm-up needs no labels but for its head."""
    first = Step(encoder, "self_supervised")
    return Arm(title, (first, _HEAD, Step(method, "rounds", settings)))


def _encoder(
    title: str, method: str, partition: Mapping[str, Any] | None = None
) -> Arm:
    step = Step(method, "self_supervised")
    return Arm(title, (step,), partition or {}, probes=partition is None)


def _clipped(title: str, method: str, **settings: Any) -> Arm:
    """Make an arm of a published method whose every gradient is clipped."""
    first = _CBAFED_WARM_UP if method == "cbafed" else WARM_UP
    local = _CLIPPED["local"] | settings.pop("local", {})
    return Arm(title, (first, Step(method, "rounds", {"local": local, **settings})))


ARMS: dict[str, Arm] = {
    "upper": Arm(
        "FedAvg, all labels (upper bound)", (Step("supervised", "upper"),), _ALL_LABELS
    ),
    "warm-up": Arm("Warm-up, labeled only (the paper's lower bound)", (WARM_UP,)),
    "lower": Arm("FedAvg, labeled only for all rounds", (Step("supervised", "total"),)),
    "labels-on": Arm(
        "FedAvg, labeled only after the warm-up",
        (WARM_UP, Step("supervised", "rounds")),
    ),
    "labels-on-5": Arm(
        "FedAvg, labeled only after the warm-up, five epochs a round",
        (WARM_UP, Step("supervised", "rounds", {"local": {"epochs": 5}})),
    ),
    "cbafed-warm-up": Arm(
        "CBAFed's warm-up (its lower bound in the paper)", (_CBAFED_WARM_UP,)
    ),
    "cbafed-lower": Arm(
        "CBAFed, labeled only for all rounds",
        (Step("cbafed-warmup", "total", _CLIPPED),),
    ),
    "fedavg": _semi("FedAvg", "fedavg"),
    "fedavg-softmatch": _semi("FedAvg, SoftMatch", "fedavg", SOFT),
    "fedavg-semi": _semi("FedAvg-Semi", "fedavg-semi"),
    "fedavg-semi-softmatch": _semi("FedAvg-Semi, SoftMatch", "fedavg-semi", SOFT),
    "uniform": _semi("Uniform weights (control)", "uniform-semi"),
    "uniform-share-70": _semi(
        "Uniform, labeled share 0.7", "uniform-semi", labeled_share=0.7
    ),
    "uniform-share-30": _semi(
        "Uniform, labeled share 0.3", "uniform-semi", labeled_share=0.3
    ),
    "uniform-share-15": _semi(
        "Uniform, labeled share 0.15", "uniform-semi", labeled_share=0.15
    ),
    "uniform-share-falling": _ramp(0.7, 0.3),
    "uniform-share-rising": _ramp(0.3, 0.7),
    **{f"held-out-share-{share}": _held_out(share) for share in SHARES},
    "uniform-plain": _semi(
        "Uniform, plain pseudo-labels", "uniform-semi", loss="cross-entropy"
    ),
    "uniform-balanced": _semi(
        "Uniform, balanced pseudo-labels", "uniform-semi", loss="balanced-softmax"
    ),
    "semianagg-plain": _semi(
        "SemiAnAgg, plain pseudo-labels",
        "semianagg",
        loss="cross-entropy",
        rule="paper",
    ),
    "semianagg-balanced": _semi(
        "SemiAnAgg, balanced pseudo-labels",
        "semianagg",
        loss="balanced-softmax",
        rule="paper",
    ),
    "uniform-softmatch": _semi("Uniform, SoftMatch", "uniform-semi", SOFT),
    "permuted": _semi("Permuted weights (control)", "permuted-semi", rule="paper"),
    "presence": _semi("Class presence (control)", "semianagg", rule="presence"),
    "presence-half": _semi(
        "Presence, sharpness 0.5", "semianagg", rule="presence", sharpness=0.5
    ),
    "presence-double": _semi(
        "Presence, sharpness 2", "semianagg", rule="presence", sharpness=2.0
    ),
    "presence-fourfold": _semi(
        "Presence, sharpness 4", "semianagg", rule="presence", sharpness=4.0
    ),
    "class-mass": _semi("Class mass", "class-mass"),
    "class-mass-floor": _semi("Class mass, floor 0.05", "class-mass", floor=0.05),
    "presence-floor": _semi(
        "Presence, floor 0.05", "class-mass", floor=0.05, mass_power=0.0
    ),
    "semianagg": _semi("SemiAnAgg, paper's rule", "semianagg", rule="paper"),
    "semianagg-released": _semi(
        "SemiAnAgg, released rule", "semianagg", rule="released"
    ),
    "semianagg-anchor-2": _semi(
        "SemiAnAgg, another anchor", "semianagg", rule="paper", anchor_seed=1
    ),
    "semianagg-softmatch": _semi(
        "SemiAnAgg, SoftMatch", "semianagg", SOFT, rule="paper"
    ),
    "rscfed": _clipped("RSCFed", "rscfed"),
    "isofed": _clipped("IsoFed (our reading)", "isofed"),
    "cbafed": _clipped("CBAFed", "cbafed"),
    "cbafed-first-choice": _clipped(
        "CBAFed without the second choice", "cbafed", rare_below=0.0
    ),
    "sage": _own("SAGE", "sage"),
    "feddb": _own("FedDB, released shares", "feddb", shares="released"),
    "feddb-exact": _own("FedDB, exact shares", "feddb", shares="exact"),
    "fl2": _own("(FL)²", "fl2"),
    "semifl": _own("SemiFL, averaged batch norm", "semifl"),
    "semifl-static": _own("SemiFL, static batch norm", "semifl", batch_norm="static"),
    "twin-sight": _own("Twin-sight", "twin-sight"),
    "proxyfl": _own("ProxyFL (our reading)", "proxyfl"),
    "fedmatch": _own("FedMatch", "fedmatch"),
    "ssil-cdm": Arm("SSIL-CDM", (WARM_UP, Step("ssil-cdm", "rounds"))),
    "ssil-cdm-fedavg": Arm(
        "SSIL-CDM without FedAvg-Semi",
        (WARM_UP, Step("ssil-cdm", "rounds", {"aggregation": "fedavg"})),
    ),
    "ssil-cdm-labeled-prior": Arm(
        "ACR, prior of the labeled clients",
        (WARM_UP, Step("ssil-cdm", "rounds", {"prior": "labeled"})),
    ),
    "fedrod": _semi("FedRoD", "fedrod"),
    "fedrod-dual": _semi("FedRoD Dual", "fedrod-dual"),
    "barlow-semianagg": _after(
        "fedbarlow", "FedBarlow, then SemiAnAgg", "semianagg", learner=_SHARED
    ),
    "barlow-rscfed": _after(
        "fedbarlow", "FedBarlow, then RSCFed", "rscfed", **_CLIPPED
    ),
    "barlow-cbafed": _after(
        "fedbarlow", "FedBarlow, then CBAFed", "cbafed", **_CLIPPED
    ),
    "orchestra-semianagg": _after(
        "orchestra", "Orchestra, then SemiAnAgg", "semianagg", learner=_SHARED
    ),
    "fedbarlow": _encoder("FedBarlow", "fedbarlow"),
    "fedbarlow-online": _encoder("FedBarlow, online head", "fedbarlow", _ALL_LABELS),
    "orchestra": _encoder("Orchestra", "orchestra"),
    "orchestra-online": _encoder("Orchestra, online head", "orchestra", _ALL_LABELS),
}

_SLOW = {"local": {"lr_unlabeled": 0.01}}
_OWN: dict[str, tuple[str, dict[str, Any]]] = {
    "cbafed": ("1 labeled epoch", {"labeled_epochs": 1}),
    "rscfed": ("teacher's weight 1", {"unsupervised_weight": 1.0}),
    "isofed": ("teacher's weight 1", {"unsupervised_weight": 1.0}),
}


def _tuned(name: str) -> dict[str, Arm]:
    """Make the settings that a published method may be given instead of its own."""
    title, (said, own) = ARMS[name].title, _OWN[name]
    return {
        f"{name}-slow": _clipped(f"{title}, rate 0.01", name, **_SLOW),
        f"{name}-own": _clipped(f"{title}, {said}", name, **own),
        f"{name}-slow-own": _clipped(
            f"{title}, rate 0.01, {said}", name, **_SLOW, **own
        ),
    }


_TUNED = {name: _tuned(name) for name in _OWN}
for _arms in _TUNED.values():
    ARMS.update(_arms)

TRIED = {name: (name, *arms) for name, arms in _TUNED.items()}
"""The arms from which one is chosen for each published method, its own first."""

WARM_UPS = ("warm-up", "cbafed-warm-up")
"""Arms that are nothing but a warm-up: what others begin with is their record."""


def arm_of(name: str) -> Arm:
    """Find an arm, or make that of a method from outside; else say what was meant."""
    if name not in ARMS:
        if name in METHODS:
            return _of_method(name)
        raise ConfigError(
            f"there is no method '{name}' to compare{nearest(name, ARMS)}; known: "
            + ", ".join(ARMS),
            code="FS4104",
        )
    return ARMS[name]


def _of_method(name: str) -> Arm:
    """Put a method after the warm-up, with the shared learner if it takes one."""
    takes = {field.name for field in METHODS[name].settings()}
    return _semi(name, name) if "learner" in takes else _own(name, name)
