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


@dataclass(frozen=True)
class Sinkhorn:
    """Shares out samples among clusters so that all clusters get the same."""

    sharpness: float = 25.0
    """The larger, the closer each sample keeps to one cluster."""
    iterations: int = 10

    def __call__(self, similarity: Tensor) -> Tensor:
        """Turn similarities [N, K] into shares [N, K].

        Rows sum to one exactly, columns to N / K as closely as the iterations allow.
        In logarithms, as exp(25 * similarity) of far samples would underflow.
        """
        log = self.sharpness * similarity
        size = math.log(similarity.shape[0] / similarity.shape[1])
        for _ in range(self.iterations):
            log = log - log.logsumexp(0) + size
            log = log.log_softmax(1)
        return log.exp()


def balanced_kmeans(
    samples: Tensor, first: Tensor, sinkhorn: Sinkhorn, iterations: int
) -> Tensor:
    """Move centroids [K, d] to the means of their shares of unit samples [N, d]."""
    centroids = first
    for _ in range(iterations):
        shares = sinkhorn(samples @ centroids.T)
        centroids = F.normalize(shares.T @ samples, dim=1)
    return centroids


def fitted_centroids(
    centroids: Tensor, samples: Tensor, sinkhorn: Sinkhorn, steps: int, lr: float
) -> Tensor:
    """Fit unit centroids [K, d] to unit samples [N, d] by SGD.

    Each step shares the samples out anew and raises the cosine to the centroids that
    got them; then the centroids go back to the sphere.
    """
    fitted = centroids.clone().requires_grad_()
    sgd = torch.optim.SGD([fitted], lr, momentum=_MOMENTUM, weight_decay=_DECAY)
    for _ in range(steps):
        similarity = samples @ fitted.T
        loss = -(sinkhorn(similarity.detach()) * similarity).sum(1).mean()
        sgd.zero_grad(set_to_none=True)
        torch.autograd.backward(loss)
        sgd.step()
        with torch.no_grad():
            fitted.copy_(F.normalize(fitted, dim=1))
    return fitted.detach()
