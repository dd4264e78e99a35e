"""Half of the classes at few sites: who gets how many of what."""

from __future__ import annotations

import numpy as np
import pytest

from fedsemi.data.partition import make_partition
from fedsemi.data.rare_classes import RareClasses
from fedsemi.errors import DataError

TRUTH = np.repeat(np.arange(4), 100)


def test_the_holder_has_the_second_half_and_the_others_the_first() -> None:
    rare = RareClasses(holders=1, labeled_size=6, site_size=10)
    # Six labels over four classes are 2, 2, 1, 1; ten images over two classes 5 and 5.
    assert rare.counts(4, 4).tolist() == [
        [2, 2, 1, 1],
        [0, 0, 5, 5],
        [5, 5, 0, 0],
        [5, 5, 0, 0],
    ]


def test_without_skew_every_site_has_every_class() -> None:
    rare = RareClasses(holders=1, labeled_size=4, site_size=8, skew=0.5)
    # Four images of the own two classes, four of all four.
    assert rare.counts(4, 3).tolist() == [[1, 1, 1, 1], [1, 1, 3, 3], [3, 3, 1, 1]]


def test_a_partition_holds_what_was_asked_for_and_no_image_twice() -> None:
    rare = RareClasses(holders=2, labeled_size=8, site_size=20)
    partition = make_partition(
        TRUTH, 4, scheme="rare-classes", num_clients=5, rare=rare
    )
    assert partition.table(TRUTH, 4).tolist() == rare.counts(4, 5).tolist()
    rows = np.concatenate([client.rows for client in partition.clients])
    assert len(rows) == len(np.unique(rows)) == 88
    assert [len(client.labeled) for client in partition.clients] == [8, 0, 0, 0, 0]


def test_with_all_labels_the_images_are_the_same() -> None:
    rare = RareClasses(labeled_size=8, site_size=20)

    def rows(labeled: object) -> list[list[int]]:
        made = make_partition(
            TRUTH,
            4,
            scheme="rare-classes",
            num_clients=3,
            rare=rare,
            labeled_clients=labeled,
        )
        return [client.rows.tolist() for client in made.clients]

    assert rows("all") == rows(1)


def test_too_few_images_or_sites_are_named() -> None:
    with pytest.raises(DataError, match=r"100 images of class|there are 100"):
        make_partition(
            TRUTH,
            4,
            scheme="rare-classes",
            num_clients=9,
            rare=RareClasses(site_size=50),
        )
    with pytest.raises(DataError, match="fewer holders"):
        RareClasses(holders=2).buckets(TRUTH, 4, 3, seed=0)
