"""What the table of data sets says of each, and what a reader is asked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import urlsplit

from fedsemi.data.dataset import Dataset


@dataclass(frozen=True)
class Request:
    """What `load` was asked for, as each reader gets it.

    Attributes:
        folder: Where to look; readers of installed packages pay no heed to it.
        image_size: The side of the network's input; None is the data set's own.
        split: "image", "lesion", or the path of a published index file.
    """

    folder: Path
    image_size: int | None = None
    split: str = "image"


@dataclass(frozen=True)
class OfficialFile:
    """A file as its publishers offer it.

    Attributes:
        url: Its address.
        sums: Any of these it must have, written "md5:…" or "sha256:…". Without a
            published one it cannot be checked.
    """

    url: str
    sums: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """Its name on disk.

        >>> OfficialFile("https://x.org/files/a.npz?download=1").name
        'a.npz'
        """
        return urlsplit(self.url).path.rsplit("/", 1)[-1]


@dataclass(frozen=True)
class Official:
    """What can be downloaded, and the folder within the data folder that it goes to."""

    folder: str
    files: tuple[OfficialFile, ...]

    def places(self, data_dir: Path) -> dict[Path, OfficialFile]:
        """Say which file belongs where."""
        folder = data_dir.absolute() / self.folder
        return {folder / file.name: file for file in self.files}


@dataclass(frozen=True)
class DatasetSource:
    """One entry of the table of data sets.

    Attributes:
        name: As written in a config.
        description: One line.
        class_names: In the order of the labels.
        counts: Official numbers of training and test images.
        license: What its owners allow.
        where: How to get it, as an imperative sentence without a full stop.
        read: Returns None if the folder does not hold the data set.
        find: Returns the files in a folder that `read` would open; None if it needs no
            files.
        splits: The values of `split` that mean something here.
        package: The Python package that carries the data set, if one does.
        citation: Whom to cite.
        normalization: Where mean and standard deviation come from.
        official: The files to download, if that needs no consent on a web page.
    """

    name: str
    description: str
    class_names: tuple[str, ...]
    counts: tuple[int, int]
    license: str
    where: str
    read: Callable[[Request], Dataset | None]
    find: Callable[[Path], tuple[Path, ...]] | None = None
    splits: tuple[str, ...] = ("image",)
    package: str = ""
    citation: str = ""
    normalization: str = ""
    official: Official | None = None

    def at_hand(self, folders: Sequence[Path]) -> bool:
        """Tell whether the data set seems to be there, without reading it."""
        if self.package:
            return find_spec(self.package) is not None
        return self.find is None or any(self.find(folder) for folder in folders)
