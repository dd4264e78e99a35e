"""The table of data sets, and `load`, which finds and reads one of them."""

from __future__ import annotations

import os
from pathlib import Path

from fedsemi.data.dataset import Dataset
from fedsemi.data.outside import DatasetMaker, made_by, problem_of
from fedsemi.data.readers import (
    cifar,
    fashion_mnist,
    installed,
    isic18,
    isic18_split,
    long_tail,
    medmnist,
    mnist,
    svhn,
    synthetic,
)
from fedsemi.data.readers.source import DatasetSource, Request
from fedsemi.errors import DataError, nearest
from fedsemi.plugins.registry import Registry
from fedsemi.text.printable import typed

_KRIZHEVSKY = "Krizhevsky, Learning Multiple Layers of Features from Tiny Images, 2009"
_SOURCES = (
    DatasetSource(
        name="synthetic",
        description="four noisy color patterns of 12 pixels, made on the spot",
        class_names=synthetic.CLASS_NAMES,
        counts=(synthetic.NUM_TRAIN, synthetic.NUM_TEST),
        license="none needed",
        where="nothing to get",
        read=synthetic.read,
        citation="nobody",
        normalization="of the training images, computed when they are read",
    ),
    DatasetSource(
        name="digits",
        description="handwritten digits of 8 pixels, gray, from scikit-learn",
        class_names=installed.DIGITS_CLASSES,
        counts=(1438, 359),
        license="CC BY 4.0 (UCI)",
        where="nothing to get",
        read=installed.read_digits,
        citation="Alpaydin and Kaynak, Optical Recognition of Handwritten Digits, UCI "
        "Machine Learning Repository, 1998",
        normalization="of the training images, computed when they are read",
    ),
    DatasetSource(
        name="elpv",
        description="electroluminescence of solar cells, functional or defective",
        class_names=installed.ELPV_CLASSES,
        counts=(2099, 525),
        license="CC BY-NC-SA 4.0",
        where='run: pip install "fedsemi[elpv]"',
        read=installed.read_elpv,
        package="elpv_dataset",
        citation="Buerhop-Lutz et al., EU PVSEC 2018; Deitsch et al., Solar Energy "
        "185, 2019",
        normalization="of the training images, computed when they are read",
    ),
    DatasetSource(
        name="mnist",
        description="handwritten digits of 28 pixels, gray",
        class_names=mnist.CLASS_NAMES,
        counts=(60_000, 10_000),
        license="CC BY-SA 3.0",
        where="download the four *-ubyte.gz files from "
        "https://ossci-datasets.s3.amazonaws.com/mnist/",
        read=mnist.read,
        find=mnist.find,
        citation="LeCun, Bottou, Bengio and Haffner, Proceedings of the IEEE 86, 1998",
        normalization="constants of the literature, for the training images",
        official=mnist.OFFICIAL,
    ),
    DatasetSource(
        name="fashion-mnist",
        description="pieces of clothing of 28 pixels, gray",
        class_names=fashion_mnist.CLASS_NAMES,
        counts=(60_000, 10_000),
        license="MIT",
        where="download the four *-ubyte.gz files from "
        "https://github.com/zalandoresearch/fashion-mnist (not MNIST's of the same "
        "names)",
        read=fashion_mnist.read,
        find=fashion_mnist.find,
        citation="Xiao, Rasul and Vollgraf, arXiv:1708.07747, 2017",
        normalization="of the training images, to four digits",
        official=fashion_mnist.OFFICIAL,
    ),
    DatasetSource(
        name="svhn",
        description="house numbers, cropped digits of 32 pixels",
        class_names=svhn.CLASS_NAMES,
        counts=(73_257, 26_032),
        license="non-commercial use",
        where="download train_32x32.mat and test_32x32.mat from "
        "http://ufldl.stanford.edu/housenumbers/",
        read=svhn.read,
        find=svhn.find,
        citation="Netzer et al., Reading Digits in Natural Images with Unsupervised "
        "Feature Learning, 2011",
        normalization="constants of the literature, for the training images",
        official=svhn.OFFICIAL,
    ),
    DatasetSource(
        name="cifar10",
        description="objects and animals of 32 pixels",
        class_names=cifar.CIFAR10_CLASSES,
        counts=(50_000, 10_000),
        license="research use; cite Krizhevsky 2009",
        where="download cifar-10-binary.tar.gz (the binary version, not the pickled "
        "Python one) from https://www.cs.toronto.edu/~kriz/cifar.html",
        read=cifar.read_cifar10,
        find=cifar.find_cifar10,
        citation=_KRIZHEVSKY,
        normalization="constants of the literature, for the training images",
        official=cifar.OFFICIAL10,
    ),
    DatasetSource(
        name="cifar100",
        description="objects and animals of 32 pixels in 100 classes",
        class_names=cifar.CIFAR100_CLASSES,
        counts=(50_000, 10_000),
        license="research use; cite Krizhevsky 2009",
        where="download cifar-100-binary.tar.gz (the binary version, not the pickled "
        "Python one) from https://www.cs.toronto.edu/~kriz/cifar.html",
        read=cifar.read_cifar100,
        find=cifar.find_cifar100,
        citation=_KRIZHEVSKY,
        normalization="constants of the literature, for the training images",
        official=cifar.OFFICIAL100,
    ),
    DatasetSource(
        name="cifar100-lt",
        description="CIFAR-100 with a long tail: 500 images of a class down to 5",
        class_names=cifar.CIFAR100_CLASSES,
        counts=(10_847, 10_000),
        license="research use; cite Krizhevsky 2009",
        where="download cifar-100-binary.tar.gz (the binary version, not the pickled "
        "Python one) from https://www.cs.toronto.edu/~kriz/cifar.html",
        read=long_tail.read,
        find=cifar.find_cifar100,
        splits=("image", "path"),
        citation=_KRIZHEVSKY,
        normalization="constants of the literature, for the training images",
        official=cifar.OFFICIAL100,
    ),
    DatasetSource(
        name="isic18",
        description="skin lesions (HAM10000), seven diagnoses",
        class_names=isic18_split.CLASS_NAMES,
        counts=(8_012, 2_003),
        license="CC BY-NC 4.0; attribution ViDIR Group, Medical University of Vienna",
        where="download HAM10000_metadata.csv and unpack HAM10000_images_part_1.zip "
        "and _part_2.zip from https://doi.org/10.7910/DVN/DBW86T",
        read=isic18.read,
        find=isic18.find,
        splits=("image", "lesion", "path"),
        citation="Tschandl, Rosendahl and Kittler, Scientific Data 5, 2018",
        normalization="constants of the literature, for the training images",
    ),
    *medmnist.SOURCES,
)

DATASETS: Registry[DatasetSource | DatasetMaker] = Registry(
    "data set", {source.name: source for source in _SOURCES}, problem_of
)
"""The data sets that fedsemi can read; others enter as plug-ins.

One from outside is a function that returns a `Dataset`. It is told those of `data_dir`,
`image_size` and `split` that it takes by name.
"""


def load(
    name: str,
    data_dir: Path | None = None,
    *,
    image_size: int | None = None,
    split: str = "image",
) -> Dataset:
    """Read a data set from the first folder that has it.

    Args:
        name: A key of `DATASETS`, or module:function.
        data_dir: The only folder to look in; None looks along `search_path`.
        image_size: The side of the network's input; None is the data set's own.
            Larger images are averaged down to it, smaller ones stay.
        split: Which images are for testing. "image" is the official or usual part;
            for ISIC, "lesion" keeps each lesion on one side; for ISIC and CIFAR-100-LT
            also the path of a published index file (`.pth`).
    """
    refuse_unusable(name)
    if name not in DATASETS:
        raise DataError(
            f"unknown data set '{name}'{nearest(name, DATASETS)}; known: "
            f"{', '.join(DATASETS)}",
            "FS3003",
        )
    source, folders = DATASETS[name], search_path(data_dir)
    if not isinstance(source, DatasetSource):
        told = {"data_dir": folders[0], "image_size": image_size, "split": split}
        return made_by(source, name, told)
    _check_options(source, image_size, split)
    for folder in folders:
        dataset = source.read(Request(folder, image_size, split))
        if dataset is not None:
            return dataset
    raise _missing(source, folders)


def refuse_unusable(name: str) -> None:
    """Refuse a data set that people look for and that no method here can learn."""
    if name == medmnist.MULTI_LABEL:
        raise DataError(
            f"'{name}' gives an image several classes at once, and fedsemi learns one "
            "class per image; take another, e.g. pneumoniamnist",
            "FS3050",
        )


def search_path(data_dir: Path | None = None) -> list[Path]:
    """Return the folders that data sets are looked for in, first to last.

    A folder that is named, here or by the variable FEDSEMI_DATA, is the only one.
    """
    if data_dir is not None:
        return [Path(data_dir).expanduser()]
    if named := os.environ.get("FEDSEMI_DATA"):
        return [Path(named).expanduser()]
    return [Path("data"), Path.home() / ".cache" / "fedsemi"]


def compact_file(name: str, data_dir: Path | None = None) -> Path | None:
    """Return the compact file that `load` would read for want of the official ones."""
    find = getattr(DATASETS[name], "find", None)
    found = (find(folder) for folder in search_path(data_dir)) if find else ()
    files = next((each for each in found if each), ())
    return next((path for path in files if path.suffix == ".npz"), None)


def _check_options(source: DatasetSource, image_size: int | None, split: str) -> None:
    if image_size is not None and image_size < 1:
        raise DataError(f"image_size = {image_size}; it must be above 0", "FS3005")
    kind = "path" if split.endswith(".pth") else split
    if kind not in source.splits:
        known = [s if s != "path" else "the path of a .pth file" for s in source.splits]
        raise DataError(
            f"data set '{source.name}' has no split '{split}'"
            f"{nearest(split, source.splits)}; known: {', '.join(known)}",
            "FS3005",
        )


def _missing(source: DatasetSource, folders: list[Path]) -> DataError:
    looked = ", ".join(str(folder.absolute()) for folder in folders)
    target, get = folders[0].absolute(), source.where
    if source.official is not None:
        target /= source.official.folder
        named = ("--data-dir", folders[0]) if len(folders) == 1 else ()
        command = typed("fedsemi", "datasets", "get", source.name, *named)
        get = f"`{command}` fetches it; or {source.where}"
    return DataError(
        f"data set '{source.name}' was not found in {looked}; {get}, put the "
        f"files in {target} (or set FEDSEMI_DATA to their folder), then "
        "run the same command again",
        "FS3001",
    )
