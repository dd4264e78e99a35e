"""The anchor: one random network, the same at every client, and the distance from it.

SemiAnAgg, Section 4: "Semi-Supervised Anchor-Based Aggregation", TMLR 2024.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from fedsemi.errors import ProtocolError
from fedsemi.messages import DIVERSITY
from fedsemi.method import Statistic
from fedsemi.models import Classifier, ModelSpec
from fedsemi.objectives.labeler import Probe
from fedsemi.objectives.workbench import Workbench
from fedsemi.seeds import seed_of
from fedsemi.weights import digest

ANCHOR_SEED = "anchor_seed"
"""What a task announces their seed by."""
ANCHOR_SHA256 = "anchor_sha256"
"""What a task announces the hash of its anchors by, 32 bytes for each."""
_CHUNK = 128


def make_anchor(model: ModelSpec, seed: int) -> tuple[Classifier, str]:
    """Build the anchor from its seed; return it with the SHA-256 of its weights.

    Untrained batch norm in test mode is the identity, so the anchor is the random
    network itself. A seed alone does not promise the same numbers on another machine
    or release of torch: hence the hash.
    """
    return _made(model, model.maker, seed)


@lru_cache(maxsize=16)  # by the maker as well, which a notebook may define anew
def _made(model: ModelSpec, maker: object, seed: int) -> tuple[Classifier, str]:
    anchor = model.build(seed).eval().requires_grad_(False)
    return anchor, digest(anchor.state_dict())


def checked_anchor(model: ModelSpec, seed: int, sha256: str) -> Classifier:
    """Build the anchor that the server announced, or refuse."""
    anchor, found = make_anchor(model, seed)
    if found != sha256:
        raise ProtocolError(
            f"seed {seed} gives the anchor {found[:12]}… here, but the server has "
            f"{sha256[:12]}…; use the same model, width and torch release everywhere",
            code="FS2111",
        )
    return anchor


def anchor_seeds(first: int, count: int) -> list[int]:
    """Name the seeds of several anchors; the first anchor is that of one alone."""
    return [first, *(seed_of(first, "anchor", i) for i in range(1, count))]


@dataclass(frozen=True)
class Anchors:
    """What the server says of the random networks that all clients shall have."""

    model: ModelSpec
    seed: int
    count: int = 1

    @property
    def sha256(self) -> str:
        """Hash of the anchor's weights; of several anchors, their hashes in a row."""
        seeds = anchor_seeds(self.seed, self.count)
        return "".join(make_anchor(self.model, seed)[1] for seed in seeds)

    def announcement(self) -> dict[str, Tensor]:
        """Return what a task brings: the seed, and the hash of what it must give."""
        sha256 = torch.tensor(list(bytes.fromhex(self.sha256)), dtype=torch.uint8)
        return {ANCHOR_SEED: torch.tensor(self.seed), ANCHOR_SHA256: sha256}


def announced_probe(
    model: ModelSpec, told: Mapping[str, Tensor]
) -> Callable[[Workbench], Probe]:
    """Make the anchors that a task announces, or refuse; return what measures them."""
    announced = bytes(told[ANCHOR_SHA256].tolist())
    hashes = [announced[i : i + 32].hex() for i in range(0, len(announced), 32)]
    seeds = anchor_seeds(int(told[ANCHOR_SEED]), len(hashes))
    anchors = [
        checked_anchor(model, seed, sha256)
        for seed, sha256 in zip(seeds, hashes, strict=True)
    ]
    return partial(make_probe, anchors)


def diversity_statistic(model: ModelSpec) -> dict[str, Statistic]:
    """Declare what Eq. 4 reads: a number for each class.

    It is two at most, if cosines can be negative.
    """
    high = 1 + model.signed_features
    return {DIVERSITY: Statistic(model.num_classes, 0, high, of_pseudo_labels=True)}


def make_probe(anchors: Sequence[Classifier], bench: Workbench) -> Probe:
    """Measure the distance from one anchor, or the mean distance from several."""
    probes = [AnchorDiversity(bench, anchor) for anchor in anchors]
    return probes[0] if len(probes) == 1 else MeanDiversity(probes)


class AnchorDiversity(Probe):
    """How far the global model's features lie from the anchor's, class by class."""

    anchor_feature: Tensor
    similarity: Tensor
    count: Tensor

    def __init__(self, bench: Workbench, anchor: Classifier) -> None:
        super().__init__()
        self._bench = bench
        # Not a submodule: the anchor is no memory of this client.
        self._anchor = (anchor.to(bench.setup.device),)
        shape = bench.client.num_unlabeled, anchor.num_features
        # Half precision moves no contribution by more than 1e-3 (tested) and halves
        # what a client has to keep.
        self.register_buffer("anchor_feature", torch.zeros(shape, dtype=torch.half))
        zeros = torch.zeros(bench.num_classes, dtype=torch.double)
        self.register_buffer("similarity", zeros, persistent=False)
        self.register_buffer("count", zeros.clone(), persistent=False)

    @torch.inference_mode()
    def prepare(self) -> None:
        """Keep the anchor's features q of all unlabeled images, clean view."""
        for start in range(0, len(self.anchor_feature), _CHUNK):
            index = torch.arange(start, min(start + _CHUNK, len(self.anchor_feature)))
            view = self._bench.clean(self._bench.unlabeled(index))
            feature = F.normalize(self._anchor[0](view).feature)
            self.anchor_feature[index] = feature.half().to(self.anchor_feature.device)

    def start_round(self) -> None:
        """Forget the last sums."""
        self.similarity.zero_()
        self.count.zero_()

    def forward(self, feature: Tensor, label: Tensor, index: Tensor) -> None:
        """Add the cosines of features and anchor features to the sums (Eq. 3)."""
        anchor = F.normalize(self.anchor_feature[index].float())
        cosine = (F.normalize(feature) * anchor).sum(1).double()
        self.similarity.index_add_(0, label, cosine)
        self.count.index_add_(0, label, torch.ones_like(cosine))

    def statistics(self) -> dict[str, Tensor]:
        """Return r_c = 1 - similarity, and 0 for a pseudo-class without samples."""
        mean = self.similarity / self.count.clamp_min(1)
        diversity = torch.where(self.count > 0, 1 - mean, 0.0)
        return {DIVERSITY: diversity.float()}

    def metrics(self) -> dict[str, float]:
        """Return what the anchor's features take in the client's memory."""
        return {"anchor_bytes": float(self.anchor_feature.nbytes)}


class MeanDiversity(Probe):
    """The mean over several anchors: still C numbers for the server.

    How far the anchors disagree is logged as `diversity_spread`: the standard deviation
    over anchors of the client's mean diversity, an error bar on what it reports.
    """

    def __init__(self, probes: Sequence[AnchorDiversity]) -> None:
        super().__init__()
        self.probes = nn.ModuleList(probes)

    def prepare(self) -> None:
        """Let every anchor see the images."""
        for probe in self._each():
            probe.prepare()

    def start_round(self) -> None:
        """Forget the last sums."""
        for probe in self._each():
            probe.start_round()

    def forward(self, feature: Tensor, label: Tensor, index: Tensor) -> None:
        """Compare with every anchor."""
        for probe in self._each():
            probe(feature, label, index)

    def statistics(self) -> dict[str, Tensor]:
        """Return the mean of r_c over the anchors."""
        return {DIVERSITY: self._by_anchor().mean(0)}

    def metrics(self) -> dict[str, float]:
        """Return the spread over the anchors, 0 if no pseudo-class is present."""
        present = self._each()[0].count > 0
        size = sum(probe.metrics()["anchor_bytes"] for probe in self._each())
        means = self._by_anchor()[:, present].mean(1)  # [anchors]
        spread = float(means.std()) if present.any() else 0.0
        return {"anchor_bytes": size, "diversity_spread": spread}

    def _by_anchor(self) -> Tensor:
        return torch.stack([p.statistics()[DIVERSITY] for p in self._each()])

    def _each(self) -> list[AnchorDiversity]:
        return [probe for probe in self.probes if isinstance(probe, AnchorDiversity)]
