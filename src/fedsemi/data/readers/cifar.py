"""CIFAR-10, CIFAR-100: Krizhevsky, Learning Multiple Layers of Features, 2009.

Reads the official *binary* version, as an archive or unpacked; the Python version is
pickled, and opening a pickle can run code. A record is the label (CIFAR-100: the coarse
one, then the fine one) and 3 x 32 x 32 bytes.
"""

from __future__ import annotations

import tarfile
import zlib
from pathlib import Path

import numpy as np

from fedsemi.data.dataset import Dataset, ImageSet
from fedsemi.data.readers.common import image_set, shrink
from fedsemi.data.readers.compact import read_compact
from fedsemi.data.readers.files import known_sums, locate, malformed, verify
from fedsemi.data.readers.source import Official, OfficialFile, Request

_LABELS = "airplane automobile bird cat deer dog frog horse ship truck"
CIFAR10_CLASSES = tuple(_LABELS.split())
_FINE_LABELS = """
apple aquarium_fish baby bear beaver bed bee beetle bicycle bottle bowl boy
bridge bus butterfly camel can castle caterpillar cattle chair chimpanzee
clock cloud cockroach couch crab crocodile cup dinosaur dolphin elephant
flatfish forest fox girl hamster house kangaroo keyboard lamp lawn_mower
leopard lion lizard lobster man maple_tree motorcycle mountain mouse
mushroom oak_tree orange orchid otter palm_tree pear pickup_truck pine_tree
plain plate poppy porcupine possum rabbit raccoon ray road rocket rose sea
seal shark shrew skunk skyscraper snail snake spider squirrel streetcar
sunflower sweet_pepper table tank telephone television tiger tractor train
trout tulip turtle wardrobe whale willow_tree wolf woman worm
"""
CIFAR100_CLASSES = tuple(_FINE_LABELS.split())
MEAN10, STD10 = (0.4914, 0.4822, 0.4465), (0.247, 0.2435, 0.2616)
MEAN100 = (0.50707516, 0.48654887, 0.44091784)
STD100 = (0.26733429, 0.25643846, 0.27615047)

_ARCHIVE10, _ARCHIVE100 = "cifar-10-binary.tar.gz", "cifar-100-binary.tar.gz"
_SITE = "https://www.cs.toronto.edu/~kriz"
OFFICIAL10, OFFICIAL100 = (
    Official(folder, (OfficialFile(f"{_SITE}/{archive}", known_sums(archive)),))
    for folder, archive in (("cifar10", _ARCHIVE10), ("cifar100", _ARCHIVE100))
)
_COMPACT100 = "cifar100.npz"
_SUB = ("cifar10", "cifar100")
_TRAIN10 = tuple(f"data_batch_{number}.bin" for number in range(1, 6))


def read_cifar10(request: Request) -> Dataset | None:
    """Read the six binary batches."""
    if not (paths := find_cifar10(request.folder)):
        return None
    (found,) = paths
    batches = _read(found, (*_TRAIN10, "test_batch.bin"))
    train = _part(found, b"".join(batches[:-1]), label_bytes=1)
    test = _part(found, batches[-1], label_bytes=1)
    dataset = Dataset(
        "cifar10", train, test, CIFAR10_CLASSES, MEAN10, STD10, 32, origin=str(found)
    )
    return shrink(dataset, request.image_size)


def read_cifar100(request: Request) -> Dataset | None:
    """Read the two binary files, else the compact file."""
    if not (paths := find_cifar100(request.folder)):
        return None
    (found,) = paths
    if found.name == _COMPACT100:
        train, test = read_compact(found).parts()
        origin = f"{found} (a compact subset)"
    else:
        batches = _read(found, ("train.bin", "test.bin"))
        train, test = (_part(found, batch, label_bytes=2) for batch in batches)
        origin = str(found)
    dataset = Dataset(
        "cifar100", train, test, CIFAR100_CLASSES, MEAN100, STD100, 32, origin=origin
    )
    return shrink(dataset, request.image_size)


def find_cifar10(folder: Path) -> tuple[Path, ...]:
    """Return the archive or what was unpacked from it, else nothing."""
    found = locate(folder, _ARCHIVE10, "cifar-10-batches-bin", inside=_SUB)
    return (found,) if found else ()


def find_cifar100(folder: Path) -> tuple[Path, ...]:
    """Return the archive or what was unpacked from it, else the compact file."""
    found = locate(folder, _ARCHIVE100, "cifar-100-binary", inside=_SUB)
    found = found or locate(folder, _COMPACT100, inside=("cifar100",))
    return (found,) if found else ()


def _read(found: Path, names: tuple[str, ...]) -> list[bytes]:
    try:
        if found.is_dir():
            return [(found / name).read_bytes() for name in names]
        verify(found)
        content = {}
        # In the archive's order: going back in a compressed file means starting anew.
        with tarfile.open(found) as archive:
            for member in archive:
                name = Path(member.name).name
                file = archive.extractfile(member) if name in names else None
                if file:
                    content[name] = file.read()
        return [content[name] for name in names]
    except KeyError as error:
        raise malformed(found, f"it has no {error.args[0]}") from error
    except (tarfile.TarError, OSError, EOFError, zlib.error) as error:
        raise malformed(found, str(error)) from error


def _part(found: Path, content: bytes, *, label_bytes: int) -> ImageSet:
    size = label_bytes + 3 * 32 * 32
    if not content or len(content) % size:
        raise malformed(found, f"{len(content)} bytes are no records of {size} bytes")
    records = np.frombuffer(content, dtype=np.uint8).reshape(-1, size)
    labels = records[:, label_bytes - 1]  # CIFAR-100 puts the fine label last
    return image_set(records[:, label_bytes:].reshape(-1, 3, 32, 32), labels)
