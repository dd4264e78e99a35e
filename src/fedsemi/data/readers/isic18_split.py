"""How the 10,015 photographs of ISIC-2018 are split for training and testing."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from fedsemi.data.published import read_published
from fedsemi.data.readers.common import fifth, stratified_split
from fedsemi.errors import DataError

Rows = npt.NDArray[np.int64]

CLASS_NAMES = ("akiec", "bcc", "bkl", "df", "mel", "nv", "vasc")
TRAIN_COUNTS = (261, 425, 873, 88, 889, 5363, 113)
TEST_COUNTS = (66, 89, 226, 27, 224, 1342, 29)
"""Of the literature's split, 8,012 and 2,003 images."""


@dataclass(frozen=True, eq=False)
class Photos:
    """The table that comes with the photographs, column by column, in file order."""

    image_ids: tuple[str, ...]
    labels: Rows
    lesions: tuple[str, ...]
    ages: tuple[str, ...]
    sexes: tuple[str, ...]
    sites: tuple[str, ...]

    def take(self, rows: Rows) -> Photos:
        """Return the given rows, in the order given."""

        def of(column: tuple[str, ...]) -> tuple[str, ...]:
            return tuple(column[row] for row in rows)

        return Photos(
            image_ids=of(self.image_ids),
            labels=self.labels[rows],
            lesions=of(self.lesions),
            ages=of(self.ages),
            sexes=of(self.sexes),
            sites=of(self.sites),
        )


def split_rows(photos: Photos, split: str, seed: int = 0) -> tuple[Rows, Rows]:
    """Return the rows for training and for testing.

    Args:
        photos: All photographs.
        split: "image" has the literature's class counts, and lesions on both sides;
            "lesion" keeps each lesion on one side; a path names a published index
            file, whose rows count in the order of the table.
        seed: Of the draw; the same photographs are drawn whatever the table's order.
    """
    if split not in ("image", "lesion"):
        return _published_rows(photos, Path(split))
    order = np.argsort(np.array(photos.image_ids))
    labels = photos.labels[order]
    if split == "lesion":
        lesions = np.array(photos.lesions)[order]
        train, test = _by_lesion(labels, lesions, seed)
    else:
        train, test = stratified_split(labels, _test_counts(labels), seed)
    return order[train], order[test]


def _test_counts(labels: Rows) -> Rows:
    counts = np.bincount(labels, minlength=len(CLASS_NAMES))
    if np.array_equal(counts, np.add(TRAIN_COUNTS, TEST_COUNTS)):
        return np.array(TEST_COUNTS)
    return fifth(labels, len(CLASS_NAMES))  # another release, or a part of this one


def _by_lesion(
    labels: Rows, lesions: npt.NDArray[np.str_], seed: int
) -> tuple[Rows, Rows]:
    # Slow to import, and only needed here.
    from sklearn.model_selection import StratifiedGroupKFold

    folds = StratifiedGroupKFold(n_splits=5, shuffle=True, random_state=seed)
    train, test = next(folds.split(np.zeros(len(labels)), labels, lesions))
    return train, test


def _published_rows(photos: Photos, path: Path) -> tuple[Rows, Rows]:
    index = read_published(path)
    if index.train_rows is None or index.test_rows is None:
        raise DataError(
            f"{path} does not say which images are for training and testing; use "
            "split = 'image' or 'lesion'",
            "FS3005",
        )
    both = np.concatenate([index.train_rows, index.test_rows])
    if not np.array_equal(np.sort(both), np.arange(len(photos.labels))):
        raise DataError(
            f"{path} splits {len(both)} rows, but the data set has "
            f"{len(photos.labels)}, each of which must be on one side",
            "FS3005",
        )
    return index.train_rows, index.test_rows
