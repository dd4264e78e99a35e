"""Fashion-MNIST: Xiao, Rasul and Vollgraf, 2017. Four idx files, named as MNIST's.

So they are looked for in folders of their own, e.g. where Debian's package
dataset-fashion-mnist puts them: `--data-dir /usr/share/datasets`.
"""

from __future__ import annotations

from pathlib import Path

from fedsemi.data.dataset import Dataset
from fedsemi.data.readers.common import image_set, shrink
from fedsemi.data.readers.files import locate
from fedsemi.data.readers.mnist import read_idx
from fedsemi.data.readers.source import Official, OfficialFile, Request

CLASS_NAMES = (
    "T-shirt/top",
    "Trouser",
    "Pullover",
    "Dress",
    "Coat",
    "Sandal",
    "Shirt",
    "Sneaker",
    "Bag",
    "Ankle boot",
)
MEAN, STD = (0.2860,), (0.3530,)

_SITE = "http://fashion-mnist.s3-website.eu-central-1.amazonaws.com"
# The MD5 that the publishers give, and the SHA-256 of the file in Debian's package,
# whose gzip header has no name and Debian's date.
_SUMS = {
    "train-images-idx3-ubyte.gz": (
        "md5:8d4fb7e6c68d591d4c3dfef9ec88bf0d",
        "sha256:b0564c3eedabfbf835052cff8503ea422014ce006caf5b757f851416ee8300c7",
    ),
    "train-labels-idx1-ubyte.gz": (
        "md5:25c81989df183df01b3e8a0aad5dffbe",
        "sha256:0ae29f65d86684f32d1b9c85147786c547b9c6aebcaf235f0400a0cce308b056",
    ),
    "t10k-images-idx3-ubyte.gz": (
        "md5:bef4ecab320f06d8554ea6380940ec79",
        "sha256:cc1d090a38ace84dfa1aa66e3ada7c336ef481a96936906477e6dd344da56eaa",
    ),
    "t10k-labels-idx1-ubyte.gz": (
        "md5:bb300cfdad3c16e7a12a480ee83cd310",
        "sha256:8d3605d196f4be44669e46906da9733c8131fef761fdbfec72c424d5222f1a05",
    ),
}
OFFICIAL = Official(
    "fashion-mnist",
    tuple(OfficialFile(f"{_SITE}/{name}", sums) for name, sums in _SUMS.items()),
)
_FOLDERS = ("fashion-mnist", "FashionMNIST/raw")


def read(request: Request) -> Dataset | None:
    """Read the four official files."""
    found = find(request.folder)
    if not found:
        return None
    # Unpacked files have no known sum.
    arrays = [read_idx(path, _SUMS.get(path.name, ())) for path in found]
    train = image_set(arrays[0][:, None], arrays[1])
    test = image_set(arrays[2][:, None], arrays[3])
    origin = str(found[0].parent)
    dataset = Dataset(
        "fashion-mnist", train, test, CLASS_NAMES, MEAN, STD, 28, origin=origin
    )
    return shrink(dataset, request.image_size)


def find(folder: Path) -> tuple[Path, ...]:
    """Return the official files, packed or not, from one folder, else nothing."""
    for sub in _FOLDERS:
        places = (
            locate(folder / sub, name, name.removesuffix(".gz")) for name in _SUMS
        )
        found = tuple(path for path in places if path)
        if len(found) == len(_SUMS):
            return found
    return ()
