"""The folder of one site: its images, its labels where it has them, its class list."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import torch

from fedsemi.data.client import Client
from fedsemi.data.dataset import ImageSet
from fedsemi.errors import DataError
from fedsemi.messages import Weights
from fedsemi.storage import make_folder, read_weights, write_weights, write_whole
from fedsemi.text.json_text import parsed_object

_IMAGES = "site.safetensors"
_ABOUT = "site.json"
_TEST = "test.safetensors"


@dataclass(frozen=True, eq=False)
class Site:
    """What a site owns and what it calls the classes."""

    client: Client
    class_names: tuple[str, ...]
    held_out: ImageSet | None = None
    """Labeled images that the site measures models on and does not learn from."""


def write_site(folder: Path, site: Site) -> Path:
    """Write a site's folder; true labels of the unlabeled part are not in it."""
    make_folder(folder, private=True)
    client = site.client
    tensors = {
        "labeled_images": client.labeled_images,
        "labels": client.labels,
        "unlabeled_images": client.unlabeled_images,
    }
    if site.held_out is not None:
        tensors["held_out_images"] = site.held_out.images
        tensors["held_out_labels"] = site.held_out.labels
    about = {"id": client.id, "class_names": site.class_names}
    write_weights(folder / _IMAGES, tensors, private=True)
    write_whole(folder / _ABOUT, (json.dumps(about, indent=2) + "\n").encode())
    return folder


def read_site(folder: Path) -> Site:
    """Read a site's folder and check it."""
    id, names = _about(folder / _ABOUT)
    tensors = read_weights(folder / _IMAGES)
    kinds = {
        "labeled_images": (torch.uint8, 4),
        "labels": (torch.int64, 1),
        "unlabeled_images": (torch.uint8, 4),
    }
    if tensors.keys() & {"held_out_images", "held_out_labels"}:
        kinds["held_out_images"] = torch.uint8, 4
        kinds["held_out_labels"] = torch.int64, 1
    for name, (dtype, dims) in kinds.items():
        found = tensors.get(name)
        if found is None or found.dtype != dtype or found.ndim != dims:
            raise DataError(
                f"'{folder / _IMAGES}' needs '{name}' as {dtype} with {dims} "
                "dimensions; write the folder again with `fedsemi pack`",
                code="FS3020",
            )
    labeled = _labeled(folder, tensors, ("labeled_images", "labels"), len(names))
    held_out = None
    if "held_out_labels" in tensors:
        keys = ("held_out_images", "held_out_labels")
        held_out = _labeled(folder, tensors, keys, len(names))
    client = Client(id, labeled.images, labeled.labels, tensors["unlabeled_images"])
    return Site(client, names, held_out)


def _labeled(
    folder: Path, tensors: Weights, keys: tuple[str, str], num_classes: int
) -> ImageSet:
    images, labels = (tensors[key] for key in keys)
    known = (labels >= 0) & (labels < num_classes)
    if len(labels) != len(images) or not bool(known.all()):
        raise DataError(
            f"'{folder}': every labeled image needs a label from 0 to "
            f"{num_classes - 1}",
            code="FS3020",
        )
    return ImageSet(images, labels)


def write_test_set(folder: Path, test: ImageSet) -> None:
    """Write what the coordinator measures the model on."""
    make_folder(folder, private=True)
    tensors = {"images": test.images, "labels": test.labels}
    write_weights(folder / _TEST, tensors, private=True)


def read_test_set(folder: Path) -> ImageSet | None:
    """Read the coordinator's test set, if it has one."""
    if not (folder / _TEST).exists():
        return None
    tensors = read_weights(folder / _TEST)
    return ImageSet(tensors["images"], tensors["labels"])


def read_id(folder: Path) -> int | None:
    """Read the number of a site; None if its images are not packed yet."""
    path = folder / _ABOUT
    return _about(path)[0] if path.exists() else None


def _about(path: Path) -> tuple[int, tuple[str, ...]]:
    try:
        about = parsed_object(path.read_bytes())
        if not isinstance(about["id"], int) or not isinstance(
            about["class_names"], list
        ):
            raise TypeError("'id' must be a number, 'class_names' a list")
    except FileNotFoundError:
        raise DataError(
            f"there is no '{path}'; a site's folder needs site.json and "
            "site.safetensors, as `fedsemi pack` and `fedsemi deal` write them",
            code="FS3020",
        ) from None
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise DataError(f"'{path}' is damaged: {error}", code="FS3020") from None
    return about["id"], tuple(about["class_names"])
