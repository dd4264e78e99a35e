"""Make sites: of arrays, of torch data sets, of folders, of a data set by its name."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import torch
from torch import Tensor

from fedsemi.api.sites import Sites, held
from fedsemi.data.arrays import as_images, by_site, image_set, in_memory
from fedsemi.data.dataset import UNKNOWN, ImageSet
from fedsemi.data.datasets import DATASETS
from fedsemi.data.outside import DatasetMaker
from fedsemi.data.partition import LabeledClients, given_partition, make_partition
from fedsemi.data.survey import image_size as proposed_size
from fedsemi.data.survey import propose, require_classes, survey
from fedsemi.errors import DataError

Array = Any
"""A numpy array, a tensor, or nested lists of numbers."""


class MapDataset(Protocol):
    """Any map-style torch data set: a length, and pairs of image and label."""

    def __len__(self) -> int:
        """Count the pairs."""

    def __getitem__(self, index: int, /) -> Any:
        """Return a pair."""


def sites_from_arrays(
    labeled: Sequence[tuple[Array, Array]],
    unlabeled: Sequence[Array] = (),
    *,
    test: tuple[Array, Array],
    class_names: Sequence[str] | None = None,
    image_size: int | None = None,
    flip: bool = True,
) -> Sites:
    """Make a site of each pair of images and labels, and of each array of images.

    Args:
        labeled: Images and labels of a site; -1 is the label of an image without one.
        unlabeled: Images of a site that has no labels at all.
        test: Images and labels on which the global model is measured.
        class_names: In the order of the labels; their numbers if left out.
        image_size: Side of the network's input; the images' own if left out.
        flip: Mirror images at random while learning; False if sides have a meaning.

    Images are numpy arrays or tensors, `N×H×W`, `N×H×W×C` or `N×C×H×W`, uint8 or
    floats from 0 to 1; labels are whole numbers from 0.
    """
    parts = [image_set(f"labeled[{i}]", *pair) for i, pair in enumerate(labeled)]
    for number, each in enumerate(unlabeled):
        images = as_images(each, f"unlabeled[{number}]")
        parts.append(ImageSet(images, torch.full((len(images),), UNKNOWN)))
    for number, part in enumerate(parts):
        _check_part(f"site {number}", part, parts[0])
    if not parts or all(int(part.labels.max()) == UNKNOWN for part in parts):
        raise DataError("no site has a labeled image to learn from", code="FS3303")
    tested = image_set("test", *test)
    _check_part("test", tested, parts[0])
    if int(tested.labels.min()) == UNKNOWN:
        raise DataError("test has images without a label; leave them out", "FS3041")
    train, partition = by_site(parts)
    dataset = in_memory(train, tested, class_names, image_size)
    return held(dataset, partition, truth=False, flip=flip)


def sites_from_dataset(
    train: MapDataset,
    test: MapDataset,
    *,
    clients: Sequence[Sequence[int]] | None = None,
    labeled_clients: LabeledClients = 1,
    seed: int = 1,
    class_names: Sequence[str] | None = None,
    image_size: int | None = None,
    flip: bool = True,
    **partition: Any,
) -> Sites:
    """Deal a torch data set out to sites; all its images are read into memory.

    Args:
        train: Pairs of image and label; an image is of PIL, an array or a tensor.
        test: On which the global model is measured.
        clients: The rows of each site; left out, they are drawn.
        labeled_clients: How many sites have labels, their numbers, or "all".
        seed: Of the draw.
        class_names: In the order of the labels; the data set's `classes` if left out.
        image_size: Side of the network's input; the images' own if left out.
        flip: Mirror images at random while learning; False if sides have a meaning.
        partition: How to draw, as [partition] of a config says it: `num_clients`,
            `dirichlet_alpha`, `scheme`, `labeled_fraction`, `min_size`.
    """
    names = class_names or getattr(train, "classes", None)
    parts = _read("train", train), _read("test", test)
    dataset = in_memory(*parts, names, image_size)
    labels = parts[0].labels.numpy()
    if clients is None:
        dealt = make_partition(
            labels,
            dataset.num_classes,
            labeled_clients=labeled_clients,
            seed=seed,
            **partition,
        )
    else:
        dealt = given_partition(clients, labeled_clients, len(labels))
    return held(dataset, dealt, truth=True, flip=flip)


def sites_from_folders(
    *folders: str | PathLike[str],
    test: str | PathLike[str] | None = None,
    image_size: int | None = None,
    flip: bool = True,
    **settings: Any,
) -> Sites:
    """Make a site of each folder of pictures, read as `fedsemi init` reads them.

    Args:
        folders: With a sub-folder for each class, a labels.csv, or no labels.
        test: A labeled folder; without it, a part of each labeled site is tested on.
        image_size: Side of the network's input; proposed from the pictures if left out.
        flip: Mirror images at random while learning; False if sides have a meaning.
        settings: Others of [sites], e.g. `patient`, `classes`, `test_fraction`.
    """
    seen = [survey(Path(folder)) for folder in folders]
    found = propose(seen, survey(Path(test)) if test else None).settings
    proposed = dataclasses.asdict(found.beside(Path.cwd())) | settings
    require_classes(proposed["classes"])
    size = image_size or proposed_size(seen)
    data = {"name": "folders", "image_size": size, "flip": flip}
    return Sites({"data": data, "sites": proposed})


def sites_from(
    name: str | DatasetMaker,
    *,
    image_size: int | None = None,
    train_limit: int | None = None,
    test_limit: int | None = None,
    split: str = "image",
    flip: bool = True,
    pre_size: int | None = None,
    data_dir: str | PathLike[str] | None = None,
    **partition: Any,
) -> Sites:
    """Deal a data set out to sites, with the seed of each run.

    Args:
        name: One of `list_datasets()`, or a function of your own that returns what
            `dataset_of` makes of arrays.
        image_size: Side of the network's input; the data set's own if left out.
        train_limit: Use a random part of the training images.
        test_limit: Use a random part of the test images.
        split: For ISIC, "lesion" keeps the images of a lesion together.
        flip: Mirror images at random while learning; False if sides have a meaning.
        pre_size: Side of training images before a crop is cut from them.
        data_dir: The folder of the data sets, instead of the usual ones.
        partition: As [partition] of a config: `num_clients`, `labeled_clients`,
            `dirichlet_alpha`, `scheme`, `seed` to deal out once for all runs, …
    """
    data = {
        "name": name if isinstance(name, str) else DATASETS.add(name),
        "image_size": image_size,
        "train_limit": train_limit,
        "test_limit": test_limit,
        "split": split,
        "flip": flip,
        "pre_size": pre_size,
    }
    where = None if data_dir is None else Path(data_dir)
    return Sites({"data": data, "partition": partition}, where)


def _check_part(what: str, part: ImageSet, first: ImageSet) -> None:
    """Refuse a site without images, or with others than the first one's."""
    if not len(part):
        raise DataError(f"{what} has no images; leave it out", code="FS3041")
    here, there = (list(each.images.shape[1:]) for each in (part, first))
    if here != there:
        raise DataError(
            f"{what} has images of {here}, others of {there} (channels, height, "
            "width); make them alike first",
            code="FS3041",
        )


def _read(what: str, dataset: MapDataset) -> ImageSet:
    """Read all pairs of a torch data set."""
    pairs = [dataset[row] for row in range(len(dataset))]
    try:
        images = [_image(image) for image, _ in pairs]
        labels = [int(label) for _, label in pairs]
    except (TypeError, ValueError):
        raise DataError(
            f"{what} does not give pairs of one image and one label", code="FS3041"
        ) from None
    shapes = sorted({tuple(image.shape) for image in images})
    if len(shapes) != 1:
        sizes = ", ".join(str(shape) for shape in shapes[:3]) or "none"
        raise DataError(
            f"{what} has images of the shapes {sizes}; give it a transform that makes "
            "them one size",
            code="FS3041",
        )
    return image_set(what, torch.stack(images), labels)


def _image(image: Any) -> Tensor:
    return image if isinstance(image, Tensor) else torch.from_numpy(np.array(image))
