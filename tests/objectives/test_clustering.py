import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.nn import functional as F

from fedsemi.objectives.clustering import Sinkhorn, balanced_kmeans, fitted_centroids


def _sphere(rows: int, size: int, seed: int) -> torch.Tensor:
    draw = torch.Generator().manual_seed(seed)
    return F.normalize(torch.randn(rows, size, generator=draw), dim=1)


def test_one_iteration_by_hand():
    # exp = [[3, 1], [1, 1]]; columns to one: [[3/4, 1/2], [1/4, 1/2]]; then rows.
    similarity = torch.tensor([[math.log(3), 0], [0, 0]])
    shares = Sinkhorn(sharpness=1, iterations=1)(similarity)
    expected = torch.tensor([[3 / 5, 2 / 5], [1 / 3, 2 / 3]])
    torch.testing.assert_close(shares, expected)


def test_many_iterations_by_hand():
    # Balanced [[p, 1 - p], [1 - p, p]] keeps the odds ratio: (p / (1 - p))^2 = 3.
    similarity = torch.tensor([[math.log(3), 0], [0, 0]])
    shares = Sinkhorn(sharpness=1, iterations=50)(similarity)
    p = math.sqrt(3) / (1 + math.sqrt(3))
    torch.testing.assert_close(shares, torch.tensor([[p, 1 - p], [1 - p, p]]))


@settings(max_examples=25, deadline=None)
@given(st.integers(1, 40), st.integers(1, 8), st.integers(0, 999))
def test_rows_sum_to_one_and_columns_are_balanced(rows, clusters, seed):
    similarity = _sphere(rows, 4, seed) @ _sphere(clusters, 4, seed + 1).T
    shares = Sinkhorn(sharpness=2, iterations=200)(similarity)
    torch.testing.assert_close(shares.sum(1), torch.ones(rows))
    torch.testing.assert_close(
        shares.sum(0), torch.full((clusters,), rows / clusters), rtol=1e-3, atol=1e-3
    )


def test_far_samples_do_not_underflow():
    similarity = torch.tensor([[1.0, -1.0], [1.0, -1.0]])
    shares = Sinkhorn(sharpness=1000)(similarity)
    torch.testing.assert_close(shares, torch.full((2, 2), 0.5))


def test_kmeans_finds_two_groups_of_the_same_size():
    samples = torch.tensor([[1, 0.1], [1, -0.1], [-0.1, 1], [0.1, 1]])
    samples = F.normalize(samples, dim=1)
    found = balanced_kmeans(samples, samples[[0, 2]], Sinkhorn(), 5)
    torch.testing.assert_close(found, torch.eye(2), rtol=0, atol=0.02)


def test_server_moves_centroids_towards_samples_and_keeps_them_on_the_sphere():
    samples, start = _sphere(12, 6, 1), _sphere(4, 6, 2)
    fitted = fitted_centroids(start, samples, Sinkhorn(), steps=40, lr=0.05)

    def cosine(centroids: torch.Tensor) -> float:
        similarity = samples @ centroids.T
        return float((Sinkhorn()(similarity) * similarity).sum(1).mean())

    torch.testing.assert_close(fitted.norm(dim=1), torch.ones(4))
    assert cosine(fitted) > cosine(start) + 0.2


def test_one_server_step_by_hand():
    # One centroid, one sample: the share is 1, the gradient -sample plus weight decay.
    centroid, sample = torch.tensor([[1.0, 0.0]]), torch.tensor([[0.0, 1.0]])
    fitted = fitted_centroids(centroid, sample, Sinkhorn(), steps=1, lr=0.1)
    before = torch.tensor([[1 - 0.1 * 1e-4, 0.1]])
    assert fitted.tolist()[0] == pytest.approx(F.normalize(before).tolist()[0])
