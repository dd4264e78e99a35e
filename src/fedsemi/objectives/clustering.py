"""Clusters of equal size on the unit sphere, by Sinkhorn's iterations.

Cuturi, Sinkhorn Distances, NeurIPS 2013; used for clustering as in Orchestra (Lubana et
al., ICML 2022).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional as F

_MOMENTUM = 0.9
_DECAY = 1e-4
_CLOSE, _CHECK_EVERY = 1e-2, 10


@dataclass(frozen=True)
class Sinkhorn:
    """Shares out samples among clusters so that all clusters get the same."""

    sharpness: float = 25.0
    """The larger, the closer each sample keeps to one cluster."""
    iterations: int = 10
    """At most; every tenth looks whether the rows hardly change any more."""

    def __call__(self, similarity: Tensor) -> Tensor:
        """Turn similarities [N, K] into shares [N, K].

        Rows sum to one exactly, columns to N / K as closely as the iterations allow.
        In logarithms, as exp(25 * similarity) of far samples would underflow.
        """
        log = (self.sharpness * similarity).log_softmax(1)
        size = math.log(similarity.shape[0] / similarity.shape[1])
        for done in range(self.iterations):
            log = log - log.logsumexp(0) + size
            row = log.logsumexp(1, keepdim=True)
            log = log - row
            if done % _CHECK_EVERY == 0 and row.expm1().abs().sum() < _CLOSE:
                break
        return log.exp()


def balanced_kmeans(
    samples: Tensor,
    first: Tensor,
    sinkhorn: Sinkhorn,
    iterations: int,
    draw: torch.Generator,
) -> Tensor:
    """Move centroids [K, d] to the means of the unit samples [N, d] nearest to them.

    A sample belongs where its largest share is; a cluster without any gets one at
    random.
    """
    centroids = first
    for _ in range(iterations):
        nearest = sinkhorn(samples @ centroids.T).argmax(1)
        chosen = F.one_hot(nearest, len(first)).to(samples.dtype)  # [N, K]
        total = chosen.T @ samples
        empty = ~chosen.any(0)
        lots = torch.randint(len(samples), (int(empty.sum()),), generator=draw)
        total[empty] = samples[lots]
        centroids = F.normalize(total, dim=1)
    return centroids


def assignment_loss(shares: Tensor, similarity: Tensor, temperature: float) -> Tensor:
    """Return minus the mean cosine of shares and softened similarities, both [N, K]."""
    guessed = (similarity / temperature).softmax(1)
    return -F.cosine_similarity(shares, guessed, dim=1).mean()


@dataclass(frozen=True)
class CentroidFit:
    """How the server fits its centroids, by SGD."""

    sinkhorn: Sinkhorn
    temperature: float
    steps: int
    lr: float

    def __call__(self, centroids: Tensor, samples: Tensor) -> Tensor:
        """Fit centroids [K, d] to unit samples [N, d].

        Each step shares the samples out anew and draws what the centroids say of them
        towards that; then the centroids go back to the sphere.
        """
        fitted = centroids.clone().requires_grad_()
        sgd = torch.optim.SGD(
            [fitted], self.lr, momentum=_MOMENTUM, weight_decay=_DECAY
        )
        for _ in range(self.steps):
            similarity = samples @ fitted.T
            shares = self.sinkhorn(similarity.detach())
            loss = assignment_loss(shares, similarity, self.temperature)
            sgd.zero_grad(set_to_none=True)
            torch.autograd.backward(loss)
            sgd.step()
            with torch.no_grad():
                fitted.copy_(F.normalize(fitted, dim=1))
        return fitted.detach()
