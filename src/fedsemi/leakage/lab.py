"""One job of the lab: a method and a seed; all questions, things sent and forms."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from fedsemi.config.experiment import Experiment
from fedsemi.data.dataset import Dataset
from fedsemi.leakage.answers import MODEL, STATISTIC
from fedsemi.leakage.attackers import attack, baseline
from fedsemi.leakage.inside import by_diversity, by_model
from fedsemi.leakage.membership import Membership
from fedsemi.leakage.play import Glimpse, Play, set_up
from fedsemi.leakage.scene import Kind, last_tasks, share_out, warmed
from fedsemi.leakage.seen import Form, forms_of
from fedsemi.messages import DIVERSITY

Question = Literal["classes", "shares", "membership"]
QUESTIONS: tuple[Question, ...] = ("classes", "shares", "membership")
COIN = 0.5
"""The AUC of a guesser."""


@dataclass(frozen=True)
class Scale:
    """How much is tried."""

    sites: int = 100
    """That are judged; the server simulates twice as many."""
    sums: tuple[int, ...] = (3, 10, 50)
    """Over how many sites masked sums go."""
    noise: float = 1.0
    """Noise multiplier; 0 leaves the noisy forms out."""
    images: int = 10
    """Of each site, and as many of others, that membership is asked of."""


@dataclass(frozen=True)
class Cell:
    """One answer: how well the server can tell something from something."""

    question: Question
    site: Kind
    thing: str
    form: str
    value: float
    """AUC for classes and membership, total variation for shares."""
    baseline: float
    """What a guesser gets who looks at nothing."""
    attacker: str
    """The strongest one, chosen at simulated sites."""
    caught: float | None = None
    """Membership: share of the images found at 1 % false alarms."""
    outside: int | None = None
    """Membership: images from outside that this was measured with."""


def run_job(
    experiment: Experiment, dataset: Dataset, scale: Scale, folder: Path
) -> Iterator[Cell]:
    """Train a federation, let sites answer, attack what they sent.

    Args:
        experiment: Its last stage has the method in question.
        dataset: All images.
        scale: How much is tried.
        folder: Where the model of the stages before the last is kept.
    """
    parts = share_out(dataset, experiment.seed)
    experiment = warmed(experiment, parts.federation, folder)
    tasks = last_tasks(experiment, parts.federation)
    # Sites with labels are judged by methods that ask nobody else.
    kind: Kind = "unlabeled" if "unlabeled" in tasks else "labeled"
    play = set_up(experiment, parts, tasks[kind], kind, scale.sites)
    for form in forms_of(scale.sums, scale.noise):
        yield from of_form(play, form, scale.images)


def of_form(play: Play, form: Form, images: int) -> Iterator[Cell]:
    """Attack everything in one form."""
    sides = *play.server, play.judged
    first, second, judged = (play.glimpse(side, form) for side in sides)
    yield from _of_histograms(play, form, (first, second, judged))
    if MODEL in judged.rows:
        for found in by_model(play, first, second, judged, images):
            yield _member(play, form, MODEL, found)
    diversity = f"{STATISTIC}{DIVERSITY}"
    alone = form.sites == 1 and not form.bits
    if diversity in judged.rows and alone:
        for found in by_diversity(play, judged, images):
            yield _member(play, form, diversity, found)


def _of_histograms(
    play: Play, form: Form, glimpses: tuple[Glimpse, Glimpse, Glimpse]
) -> Iterator[Cell]:
    pairs = zip((*play.server, play.judged), glimpses, strict=True)
    looks = [play.look(side, seen) for side, seen in pairs]
    (first, _), (second, _), (judged, things) = looks
    constant = baseline([first, second], judged)
    for thing, (owned, shared) in attack(first, second, judged, things).items():
        where = play.kind, thing, form.name
        if owned is not None:
            yield Cell("classes", *where, owned.value, COIN, owned.attacker)
        yield Cell("shares", *where, shared.value, constant, shared.attacker)


def _member(play: Play, form: Form, thing: str, found: Membership) -> Cell:
    return Cell(
        "membership",
        play.kind,
        thing,
        form.name,
        found.auc,
        COIN,
        found.attack,
        found.caught,
        found.questions,
    )
