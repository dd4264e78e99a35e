"""Membership in every form: from what is seen of groups to a verdict on the attack."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import torch
from torch.nn import functional as F

from fedsemi.leakage.answers import MODEL, STATISTIC, Single
from fedsemi.leakage.membership import (
    Bench,
    Candidates,
    Membership,
    distance_signals,
    draw_candidates,
    judge,
    signals,
    strongest,
)
from fedsemi.leakage.play import Glimpse, Play, Side
from fedsemi.leakage.scores import Table
from fedsemi.messages import DIVERSITY
from fedsemi.methods.semianagg import SemiAnAgg
from fedsemi.objectives.diversity import anchor_seeds, make_anchor
from fedsemi.seeds import seed_of

_ASKED = 70
"""Groups of sites that are asked about single images."""
_TRIED = 20
"""Simulated groups at which the strongest attack is chosen."""


def by_model(
    play: Play, first: Glimpse, second: Glimpse, judged: Glimpse, images: int
) -> Iterator[Membership]:
    """Ask whether images were learned from, of who sees steps of models."""
    bench = Bench(play.setup, play.task.weights, play.layout, play.kind == "unlabeled")
    mine, others = _model(first), _model(second)
    tried = _questions(play, play.server[0], first, _TRIED, images)
    asked = _questions(play, play.judged, judged, _ASKED, images)
    if not (tried.suffice and asked.suffice):
        return
    at_home = signals(bench, play.server[0].images, tried, mine, others)
    name = strongest(at_home, tried)
    shadows = np.concatenate([others, mine])
    found = signals(bench, play.judged.images, asked, _model(judged), shadows)
    yield judge(name, found[name], asked)


def _model(glimpse: Glimpse) -> Single:
    return glimpse.rows[MODEL].astype(np.float32, copy=False)


def by_diversity(play: Play, judged: Glimpse, images: int) -> Iterator[Membership]:
    """Ask the same of who sees diversities from anchors that it knows."""
    if not isinstance(play.method, SemiAnAgg):
        return
    asked = _questions(play, play.judged, judged, _ASKED, images)
    if not asked.suffice:
        return
    own, pseudo = own_diversity(play, play.judged, asked)
    seen = judged.rows[f"{STATISTIC}{DIVERSITY}"].astype(np.float64)
    ((name, score),) = distance_signals(own, pseudo, asked, seen).items()
    yield judge(name, score, asked)


@torch.inference_mode()
def own_diversity(
    play: Play, side: Side, asked: Candidates
) -> tuple[Table, np.ndarray[tuple[int], np.dtype[np.int64]]]:
    """Return each image's own distance from the anchors, and its pseudo-class."""
    method = play.method
    assert isinstance(method, SemiAnAgg)
    images = play.setup.views.clean(side.images.take(asked.rows).images)
    output = play.setup.load(play.task.weights).eval()(images)
    feature = F.normalize(output.feature)
    cosines = []
    for seed in anchor_seeds(method.anchor_seed, method.anchors):
        anchor, _ = make_anchor(play.setup.model, seed)
        cosines.append((feature * F.normalize(anchor(images).feature)).sum(1))
    own = 1 - torch.stack(cosines).double().mean(0)
    return own.numpy(), output.logits.argmax(1).numpy()


def _questions(
    play: Play, side: Side, glimpse: Glimpse, most: int, images: int
) -> Candidates:
    groups = glimpse.groups[:most]
    seed = seed_of(play.seed, "leak", "images", side.name, groups.shape[1])
    labels = side.images.labels
    return draw_candidates(side.answers.sites, groups, labels, images, seed)
