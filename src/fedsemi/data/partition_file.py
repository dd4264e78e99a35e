"""Who owns which images, from a published file instead of a draw: [partition] file."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from fedsemi.data.datasets import search_path
from fedsemi.data.partition import LabeledClients, Partition, load_published
from fedsemi.data.published import PublishedIndex, read_published
from fedsemi.data.readers.files import locate
from fedsemi.errors import DataError

_INSIDE = ("partition_strategy",)
"""The folder that the files lie in where they are published."""
LABELED_CLASSES: dict[str, tuple[int, ...]] = {
    "SVHN_noniid_10%labeled.pth": (15, 292, 986, 116, 63, 1285, 1352, 1438, 807, 267),
    "skin_noniid_beta0.8.pth": (16, 151, 11, 4, 5, 390, 12),
}
"""Images of each class that client 0 has, by file, as far as that is known.

Rows are mere numbers: only this shows that the images are in the order they count in.
"""


@dataclass(frozen=True, eq=False)
class PartitionFile:
    """A file that has been found and read, but not yet held against the data."""

    path: Path
    index: PublishedIndex
    sha256: str

    @property
    def split(self) -> str:
        """What `load` is asked for: the file's own split, or the usual one."""
        return "image" if self.index.train_rows is None else str(self.path)

    def partition(
        self,
        labels: npt.ArrayLike,
        num_classes: int,
        num_clients: int,
        labeled_clients: LabeledClients,
    ) -> Partition:
        """Return the partition, if it is one of these training images."""
        found = load_published(self.path, labeled_clients).partition
        if len(found) != num_clients:
            raise self._misfit(
                f"it has {len(found)} clients, and partition.num_clients = "
                f"{num_clients}"
            )
        rows = np.concatenate([client.rows for client in found.clients])
        total = len(np.asarray(labels))
        if not np.array_equal(np.sort(rows), np.arange(total)):
            raise self._misfit(
                f"it deals out {len(rows)} rows, and the data set has {total} training "
                "images, each of which must be somebody's"
            )
        known = LABELED_CLASSES.get(self.path.name)
        owned = tuple(found.table(labels, num_classes)[0].tolist())
        if known not in (None, owned):
            raise self._misfit(
                f"client 0 would own {owned} images of the classes instead of {known}; "
                "the images are in another order than in the official files"
            )
        return replace(found, file_sha256=self.sha256)

    def _misfit(self, reason: str) -> DataError:
        return DataError(f"{self.path} does not fit the data: {reason}", "FS4142")


def find_partition_file(name: str, data_dir: Path | None = None) -> Path | None:
    """Find a file by its path, else by its name in the data folders."""
    path = Path(name).expanduser()
    if path.is_file():
        return path
    folders = [] if path.is_absolute() else search_path(data_dir)
    found = (locate(folder, name, inside=_INSIDE) for folder in folders)
    return next((each for each in found if each is not None), None)


def read_partition_file(name: str, data_dir: Path | None = None) -> PartitionFile:
    """Read a file that a config names."""
    path = find_partition_file(name, data_dir)
    if path is None:
        looked = ", ".join(str(folder.absolute()) for folder in search_path(data_dir))
        raise DataError(
            f"partition.file = '{name}' is neither a file nor in {looked}; the "
            "published ones are in the folder partition_strategy of RSCFed's and "
            "SemiAnAgg's repositories",
            "FS4143",
        )
    index = read_published(path)
    return PartitionFile(path, index, hashlib.sha256(path.read_bytes()).hexdigest())
