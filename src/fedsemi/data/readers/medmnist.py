"""MedMNIST v2: Yang et al., 2023. One `.npz` for each set, 28 x 28 pixels.

Each file has a training, a validation and a test part. Sites share out the training
part; the validation part is left unused, so that results compare with published ones.
Facts are those of the Python package medmnist 3.0.2, by the publishers.
"""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from fedsemi.data.dataset import Dataset, ImageSet, channel_statistics
from fedsemi.data.readers.common import channels_first, image_set, shrink
from fedsemi.data.readers.files import locate, malformed, verify
from fedsemi.data.readers.source import DatasetSource, Official, OfficialFile, Request

MULTI_LABEL = "chestmnist"
"""The set whose images have several classes at once; fedsemi gives an image one."""

_SITE = "https://zenodo.org/records/10519652/files"
_ORGANS = (
    "bladder",
    "femur-left",
    "femur-right",
    "heart",
    "kidney-left",
    "kidney-right",
    "liver",
    "lung-left",
    "lung-right",
    "pancreas",
    "spleen",
)
_LITS = "Bilic et al., The Liver Tumor Segmentation Benchmark (LiTS), 2023"
_KERMANY = "Kermany et al., Cell 172, 2018"


@dataclass(frozen=True)
class _Facts:
    """What the publishers say of a set."""

    name: str
    description: str
    md5: str
    counts: tuple[int, int]
    class_names: tuple[str, ...]
    source: str
    """Whom to cite beside MedMNIST."""
    license: str = "CC BY 4.0"
    channels: int = 1

    @property
    def file(self) -> OfficialFile:
        url = f"{_SITE}/{self.name}.npz?download=1"
        return OfficialFile(url, (f"md5:{self.md5}",))


_FACTS = (
    _Facts(
        "pathmnist",
        "colon tissue under the microscope, nine kinds",
        "a8b06965200029087d5bd730944a56c1",
        (89_996, 7_180),
        (
            "adipose",
            "background",
            "debris",
            "lymphocytes",
            "mucus",
            "smooth muscle",
            "normal colon mucosa",
            "cancer-associated stroma",
            "colorectal adenocarcinoma epithelium",
        ),
        "Kather et al., PLOS Medicine 16, 2019",
        channels=3,
    ),
    _Facts(
        "dermamnist",
        "skin lesions (HAM10000), seven diagnoses",
        "0744692d530f8e62ec473284d019b0c7",
        (7_007, 2_005),
        (
            "actinic keratoses and intraepithelial carcinoma",
            "basal cell carcinoma",
            "benign keratosis-like lesions",
            "dermatofibroma",
            "melanoma",
            "melanocytic nevi",
            "vascular lesions",
        ),
        "Tschandl, Rosendahl and Kittler, Scientific Data 5, 2018",
        license="CC BY-NC 4.0",
        channels=3,
    ),
    _Facts(
        "octmnist",
        "retinas by optical coherence tomography, three diseases and none",
        "c68d92d5b585d8d81f7112f81e2d0842",
        (97_477, 1_000),
        ("choroidal neovascularization", "diabetic macular edema", "drusen", "normal"),
        _KERMANY,
    ),
    _Facts(
        "pneumoniamnist",
        "chest X-rays of children, pneumonia or not",
        "28209eda62fecd6e6a2d98b1501bb15f",
        (4_708, 624),
        ("normal", "pneumonia"),
        _KERMANY,
    ),
    _Facts(
        "retinamnist",
        "fundus photographs, five grades of diabetic retinopathy",
        "bd4c0672f1bba3e3a89f0e4e876791e4",
        (1_080, 400),
        ("0", "1", "2", "3", "4"),
        "Liu et al., DeepDRiD, Patterns 3, 2022",
        channels=3,
    ),
    _Facts(
        "breastmnist",
        "breast ultrasound, malignant or not",
        "750601b1f35ba3300ea97c75c52ff8f6",
        (546, 156),
        ("malignant", "normal, benign"),
        "Al-Dhabyani et al., Data in Brief 28, 2020",
    ),
    _Facts(
        "bloodmnist",
        "blood cells under the microscope, eight kinds",
        "7053d0359d879ad8a5505303e11de1dc",
        (11_959, 3_421),
        (
            "basophil",
            "eosinophil",
            "erythroblast",
            "immature granulocytes(myelocytes, metamyelocytes and promyelocytes)",
            "lymphocyte",
            "monocyte",
            "neutrophil",
            "platelet",
        ),
        "Acevedo et al., Data in Brief 30, 2020",
        channels=3,
    ),
    _Facts(
        "tissuemnist",
        "cells of the kidney cortex, eight kinds",
        "ebe78ee8b05294063de985d821c1c34b",
        (165_466, 47_280),
        (
            "Collecting Duct, Connecting Tubule",
            "Distal Convoluted Tubule",
            "Glomerular endothelial cells",
            "Interstitial endothelial cells",
            "Leukocytes",
            "Podocytes",
            "Proximal Tubule Segments",
            "Thick Ascending Limb",
        ),
        "Ljosa, Sokolnicki and Carpenter, Nature Methods 9, 2012 (BBBC051)",
    ),
    *(
        _Facts(
            f"organ{letter}mnist",
            f"organs in {plane} slices of CT scans, eleven kinds",
            md5,
            counts,
            _ORGANS,
            _LITS,
        )
        for letter, plane, md5, counts in (
            ("a", "axial", "68e3f8846a6bd62f0c9bf841c0d9eacc", (34_561, 17_778)),
            ("c", "coronal", "b9ceb9546e10131b32923c5bbeaea2b1", (12_975, 8_216)),
            ("s", "sagittal", "9ab87b696fb54e2a387ebe992d6ed5f1", (13_932, 8_827)),
        )
    ),
)


def _read(facts: _Facts, request: Request) -> Dataset | None:
    path = locate(request.folder, f"{facts.name}.npz", inside=("medmnist",))
    if path is None:
        return None
    verify(path, facts.file.sums)
    try:
        # Without pickle, an array of objects cannot run code.
        with np.load(path, allow_pickle=False) as file:
            train, test = (_part(facts, file, name) for name in ("train", "test"))
    except (ValueError, KeyError, OSError, EOFError, zipfile.BadZipFile) as error:
        raise malformed(path, f"not a file of MedMNIST ({error})") from error
    mean, std = channel_statistics(train.images)
    dataset = Dataset(
        facts.name, train, test, facts.class_names, mean, std, 28, origin=str(path)
    )
    return shrink(dataset, request.image_size)


def _part(facts: _Facts, file: Mapping[str, npt.NDArray[Any]], name: str) -> ImageSet:
    images, labels = file[f"{name}_images"], file[f"{name}_labels"]
    color = (3,) if facts.channels == 3 else ()
    if images.dtype != np.uint8 or images.shape[1:] != (28, 28, *color):
        raise ValueError(f"images are {images.dtype} {list(images.shape)}")
    if labels.shape != (len(images), 1):
        raise ValueError(f"labels are {list(labels.shape)}")
    return image_set(channels_first(images), labels[:, 0])


def _find(facts: _Facts, folder: Path) -> tuple[Path, ...]:
    found = locate(folder, f"{facts.name}.npz", inside=("medmnist",))
    return (found,) if found else ()


def _source(facts: _Facts) -> DatasetSource:
    return DatasetSource(
        name=facts.name,
        description=f"{facts.description}, 28 pixels (MedMNIST)",
        class_names=facts.class_names,
        counts=facts.counts,
        license=facts.license,
        where=f"download {facts.name}.npz from https://zenodo.org/records/10519652",
        read=partial(_read, facts),
        find=partial(_find, facts),
        citation=f"Yang et al., MedMNIST v2, Scientific Data 10, 2023; {facts.source}",
        normalization="of the training images, computed when they are read",
        official=Official("medmnist", (facts.file,)),
    )


SOURCES = tuple(_source(facts) for facts in _FACTS)
"""Entries for the table of data sets."""
