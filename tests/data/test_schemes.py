import numpy as np
import pytest

from fedsemi.data import schemes
from fedsemi.data.schemes import dirichlet, labeled_first, split_labeled
from fedsemi.errors import DataError


def buckets_of(*class_lists):
    """Make clients from the classes of their images."""
    truth = np.concatenate([np.array(classes) for classes in class_lists])
    cuts = np.cumsum([len(classes) for classes in class_lists])[:-1]
    return np.split(np.arange(len(truth)), cuts), truth


def classes_of(buckets, truth):
    return [truth[rows].tolist() for rows in buckets]


def test_labeled_client_owns_every_class_and_is_nearest_to_the_mean_size():
    # N / K = 16 / 4 = 4. Clients 2 (size 3) and 3 (size 6) own both classes; 3 is
    # nearer to 4 than 6. Clients 0 (size 4) would be nearest, but has one class.
    buckets, truth = buckets_of([0, 0, 0, 0], [1, 1, 1], [0, 1, 1], [0, 0, 0, 1, 1, 1])
    ordered = labeled_first(buckets, truth, 1)
    assert classes_of(ordered, truth) == [
        [0, 1, 1],
        [1, 1, 1],
        [0, 0, 0, 0],
        [0, 0, 0, 1, 1, 1],
    ]


def test_published_isic_sizes_give_the_published_labeled_client():
    # Sizes of the clients with all 7 classes in the literature's file; N / K = 801.
    sizes = [231, 348, 583, 500, 589]
    owners = [list(range(7)) + [5] * (size - 7) for size in sizes]
    rest = [[5] * 1152 for _ in range(5)]
    rest[0] += [5]
    buckets, truth = buckets_of(*rest, *owners)
    assert len(truth) == 8012
    assert len(labeled_first(buckets, truth, 1)[0]) == 589


def test_without_an_owner_of_every_class_most_classes_win():
    # N / K = 4; clients 1 and 2 own two of the three classes, sizes 2 and 5.
    buckets, truth = buckets_of([0, 0, 0, 0, 0], [0, 1], [1, 2, 2, 2, 2])
    assert classes_of(labeled_first(buckets, truth, 1), truth)[0] == [1, 2, 2, 2, 2]


def test_several_labeled_clients_repeat_the_rule():
    # N / K = 4: clients 3 (4), then 1 (3) and 2 (6) own both classes.
    buckets, truth = buckets_of([0, 0, 0], [0, 1, 1], [0] * 5 + [1], [0, 0, 1, 1])
    first, second, third, _ = classes_of(labeled_first(buckets, truth, 3), truth)
    assert (first, second, third) == ([0, 0, 1, 1], [0, 1, 1], [0] * 5 + [1])


def test_equal_clients_stay_where_they_are():
    buckets, truth = buckets_of([0, 1], [0, 1], [0, 1])
    ordered = labeled_first(buckets, truth, 2)
    assert [rows.tolist() for rows in ordered] == [[0, 1], [2, 3], [4, 5]]


def test_small_clients_are_drawn_again_until_the_limit(monkeypatch):
    monkeypatch.setattr(schemes, "MAX_TRIES", 20)
    truth = np.zeros(100, dtype=np.int64)
    with pytest.raises(DataError, match=r"FS3010 in 20 draws .* use a larger"):
        dirichlet(truth, 1, 10, 0.01, 10, np.random.default_rng(0))


def test_tiny_alpha_never_divides_by_zero():
    truth = np.arange(2000) % 10
    buckets = dirichlet(truth, 10, 3, 0.02, 1, np.random.default_rng(0))
    assert sum(len(rows) for rows in buckets) == 2000


def test_large_alpha_gives_nearly_equal_clients():
    truth = np.arange(10_000) % 10
    buckets = dirichlet(truth, 10, 5, 1e6, 10, np.random.default_rng(0))
    assert all(1900 < len(rows) < 2100 for rows in buckets)


def test_a_class_without_images_is_passed_over():
    truth = np.repeat([0, 2], 100)
    buckets = dirichlet(truth, 4, 2, 0.8, 10, np.random.default_rng(0))
    assert sum(len(rows) for rows in buckets) == 200


def test_rounding_goes_to_the_classes_cut_off_most():
    # 0.5 * (5, 3, 2) = (2.5, 1.5, 1): 5 labels, (2, 1, 1) sure, one to class 0 or 1.
    truth = np.array([0] * 5 + [1] * 3 + [2] * 2)
    labeled, rest = split_labeled(np.arange(10), truth, 0.5, np.random.default_rng(0))
    counts = np.bincount(truth[labeled], minlength=3).tolist()
    assert counts in ([3, 1, 1], [2, 2, 1])
    assert sorted([*labeled, *rest]) == list(range(10))


def test_at_least_one_image_is_labeled():
    rows = np.arange(3)
    labeled, _ = split_labeled(rows, np.zeros(3, int), 0.01, np.random.default_rng(0))
    assert len(labeled) == 1
