import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.nn import functional as F

from fedsemi.objectives.clustering import (
    CentroidFit,
    Sinkhorn,
    assignment_loss,
    balanced_kmeans,
)


def _sphere(rows: int, size: int, seed: int) -> torch.Tensor:
    draw = torch.Generator().manual_seed(seed)
    return F.normalize(torch.randn(rows, size, generator=draw), dim=1)


def test_one_iteration_by_hand():
    # Softmax [[3/4, 1/4], [1/2, 1/2]]; columns to one: [[3/5, 1/3], [2/5, 2/3]]; these
    # rows sum to 14/15 and 16/15.
    similarity = torch.tensor([[math.log(3), 0], [0, 0]])
    shares = Sinkhorn(sharpness=1, iterations=1)(similarity)
    expected = torch.tensor([[9 / 14, 5 / 14], [3 / 8, 5 / 8]])
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
    # The last step over rows moved a hundredth in all; columns summed to N / K before.
    balanced = torch.full((clusters,), rows / clusters)
    torch.testing.assert_close(shares.sum(0), balanced, rtol=0, atol=0.0102)


def test_iterations_end_once_a_look_finds_the_rows_at_rest():
    # Rows and columns are balanced from the start, so the first look is enough; of a
    # matrix that is not, the second look comes after eleven iterations.
    even = torch.eye(3)
    short, long = Sinkhorn(5, iterations=1)(even), Sinkhorn(5, iterations=100)(even)
    assert torch.equal(short, long)
    skewed = _sphere(9, 4, 0) @ _sphere(3, 4, 1).T
    ten, eleven, many = (Sinkhorn(2, iterations=i)(skewed) for i in (10, 11, 100))
    assert torch.equal(eleven, many) and not torch.equal(ten, eleven)


def test_far_samples_do_not_underflow():
    similarity = torch.tensor([[1.0, -1.0], [1.0, -1.0]])
    shares = Sinkhorn(sharpness=1000)(similarity)
    torch.testing.assert_close(shares, torch.full((2, 2), 0.5))


def _lots(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def test_kmeans_finds_two_groups_of_the_same_size():
    samples = torch.tensor([[1, 0.2], [1, 0.0], [0.0, 1], [0.2, 1]])
    samples = F.normalize(samples, dim=1)
    found = balanced_kmeans(samples, samples[[0, 2]], Sinkhorn(), 5, _lots())
    # A sample counts wholly where it belongs: the mean of two unit vectors halves
    # their angle, here atan(.2) and 0.
    half = math.atan(0.2) / 2
    expected = [[math.cos(half), math.sin(half)], [math.sin(half), math.cos(half)]]
    torch.testing.assert_close(found, torch.tensor(expected))


def test_an_empty_cluster_gets_a_sample_at_random():
    # Both centroids are alike, so all shares are; the first wins every tie.
    samples = torch.tensor([[1.0, 0.0], [0.0, 1.0]])
    first = torch.tensor([[0.6, 0.8], [0.6, 0.8]])
    found = [balanced_kmeans(samples, first, Sinkhorn(), 1, _lots(i)) for i in range(9)]
    for centroids in found:
        torch.testing.assert_close(centroids[0], torch.full((2,), math.sqrt(0.5)))
    lots = {tuple(centroids[1].tolist()) for centroids in found}
    assert lots == {(1.0, 0.0), (0.0, 1.0)}


def test_server_loss_of_two_samples_and_two_centroids_by_hand():
    shares = torch.tensor([[0.75, 0.25], [0.25, 0.75]])
    similarity = 0.1 * torch.tensor([[math.log(3), math.log(2)], [0.4, 0.4]])
    # At temperature .1 the guesses are (3/5, 2/5) and (1/2, 1/2). The cosines are
    # (3·3 + 1·2) / √(10·13) = 11 / √130 and (1·1 + 3·1) / √(10·2) = 2 / √5.
    expected = -(11 / math.sqrt(130) + 2 / math.sqrt(5)) / 2
    loss = assignment_loss(shares, similarity, 0.1)
    assert float(loss) == pytest.approx(expected)


def test_server_keeps_centroids_on_the_sphere_and_lowers_its_loss():
    samples, start = _sphere(12, 6, 1), _sphere(4, 6, 2)
    fitted = CentroidFit(Sinkhorn(), 0.1, steps=200, lr=0.05)(start, samples)

    def loss(centroids: torch.Tensor) -> float:
        similarity = samples @ centroids.T
        return float(assignment_loss(Sinkhorn()(similarity), similarity, 0.1))

    torch.testing.assert_close(fitted.norm(dim=1), torch.ones(4))
    assert loss(fitted) < loss(start) - 0.05


def test_one_server_step_by_hand():
    # One sample e and centroids with e·a − e·b = log 3: at temperature 1 the guess is
    # (q, 1 − q) = (3/4, 1/4), and balance makes the shares (1/2, 1/2). The cosine is
    # 1 / √(2 (1 − 2 q (1 − q))); its slope along e·a is
    # −q (1 − q) (2 q − 1) / (√2 (1 − 2 q (1 − q))^1.5) = −3 / (10 √5).
    x = math.log(3) / 2
    start = torch.tensor([[x, math.sqrt(1 - x * x)], [-x, math.sqrt(1 - x * x)]])
    fit = CentroidFit(Sinkhorn(), 1.0, steps=1, lr=0.1)
    found = fit(start, torch.tensor([[1.0, 0.0]]))
    push = torch.tensor([[-1.0, 0.0], [1.0, 0.0]]) * 0.1 * 3 / (10 * math.sqrt(5))
    expected = F.normalize(start * (1 - 0.1 * 1e-4) + push, dim=1)
    torch.testing.assert_close(found, expected)


def test_one_centroid_alone_has_nothing_to_learn():
    # Shares and guess are both 1 whatever the angle; weight decay changes the length.
    start, sample = torch.tensor([[1.0, 0.0]]), torch.tensor([[0.0, 1.0]])
    found = CentroidFit(Sinkhorn(), 0.1, steps=9, lr=0.1)(start, sample)
    torch.testing.assert_close(found, start)
