"""A federation from folders: sites in, one data set and its given partition out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch

from fedsemi.data.dataset import UNKNOWN, Dataset, ImageSet
from fedsemi.data.folder import SiteData, read_site
from fedsemi.data.label_table import LeftOut
from fedsemi.data.partition import ClientIndex, Partition
from fedsemi.data.site_settings import SitesSettings
from fedsemi.data.tested import tested
from fedsemi.errors import DataError
from fedsemi.seeds import seed_of


@dataclass(frozen=True, eq=False)
class FolderFederation:
    """What the folders hold, in the form that a simulation takes."""

    dataset: Dataset
    """Training labels are -1 where a site has none."""
    partition: Partition
    """Client k is the k-th folder."""
    names: tuple[str, ...]
    notes: tuple[str, ...]
    left_out: tuple[LeftOut, ...]
    test_sites: tuple[str, ...] = ()
    """Whose each test image is, unless they are in a folder of their own."""

    @property
    def num_images(self) -> dict[str, int]:
        """How many images each site learns from, and how many are tested on."""
        pairs = zip(self.names, self.partition.clients, strict=True)
        sizes = {name: len(c.labeled) + len(c.unlabeled) for name, c in pairs}
        return sizes | {"(tested on)": len(self.dataset.test)}


def read_federation(
    settings: SitesSettings, image_size: int, pre_size: int, seed: int
) -> FolderFederation:
    """Read all sites, set test images apart, and refuse a leak between the two.

    Args:
        settings: The config's [sites], its paths absolute or relative to here.
        image_size: Side of the network's input.
        pre_size: Side that images are stored at, so that crops have room.
        seed: Of the draw of test images.
    """
    sites = [read_site(Path(f), settings, pre_size) for f in settings.folders]
    notes = [note for site in sites for note in site.notes]
    left_out = [it for site in sites for it in site.left_out]
    if settings.test is not None:
        test_site = read_site(Path(settings.test), settings, pre_size)
        left_out += test_site.left_out
        held_out = [np.zeros(len(site), dtype=bool) for site in sites]
        parts = [(test_site, _is_labeled(test_site))]
    else:
        held_out = [hold_out(site, settings.test_fraction, seed) for site in sites]
        pairs = zip(sites, held_out, strict=True)
        parts = [(site, out & _is_labeled(site)) for site, out in pairs]
    test = tested(parts)
    _check_test(test.images, settings)
    notes += _leaks(sites, held_out, test.digests, settings.allow_leak)
    train, partition = _training(sites, held_out)
    dataset = Dataset(
        name="folders",
        train=train,
        test=test.images,
        class_names=tuple(settings.classes),
        mean=settings.channel_mean,
        std=settings.channel_std,
        image_size=image_size,
        groups=_groups(sites, held_out),
        test_metadata=test.columns,
        origin=", ".join(site.name for site in sites),
        test_groups=test.groups,
    )
    names = tuple(site.name for site in sites)
    notes += _summary(names, partition, left_out)
    both = zip(sites, held_out, strict=True)
    apart = sum(int((~_is_labeled(site) & out).sum()) for site, out in both)
    if apart:
        notes.append(
            f"{apart} unlabeled images of tested patients are not learned from"
        )
    return FolderFederation(
        dataset,
        partition,
        names,
        tuple(notes),
        tuple(left_out),
        test.sites if settings.test is None else (),
    )


def hold_out(site: SiteData, fraction: float, seed: int) -> np.ndarray:
    """Choose a labeled site's test images, whole patients at a time; bool [N].

    Images of one group, and exact duplicates, stay together; unlabeled images of a
    patient who is tested are set apart too, since they must not be learned from. Each
    class gives its part, but keeps at least one group for training.
    """
    units = [
        group or f"pixels {digest}"
        for group, digest in zip(site.groups, site.pixel_digests, strict=True)
    ]
    by_class: dict[int, set[str]] = {}
    taken: set[str] = set()
    for unit, label in zip(units, site.labels.tolist(), strict=True):
        if label != UNKNOWN and unit not in taken:
            by_class.setdefault(label, set()).add(unit)
            taken.add(unit)  # a group with several classes counts for its first
    chosen: set[str] = set()
    for _, members in sorted(by_class.items()):
        order = sorted(members, key=lambda u: seed_of(seed, "test", site.name, u))
        count = max(1, round(fraction * len(order)))
        chosen.update(order[: min(count, len(order) - 1)])
    return np.array([unit in chosen for unit in units], dtype=bool)


def overlap(
    sites: Iterable[SiteData], held_out: Sequence[np.ndarray], test: set[str]
) -> Iterator[tuple[str, str]]:
    """Yield site and file of each training image whose pixels are also tested on."""
    for site, out in zip(sites, held_out, strict=True):
        rows = zip(site.files, site.pixel_digests, out, strict=True)
        for file, digest, apart in rows:
            if not apart and digest in test:
                yield site.name, file


def _is_labeled(site: SiteData) -> np.ndarray:
    return (site.labels != UNKNOWN).numpy()


def _check_test(test: ImageSet, settings: SitesSettings) -> None:
    if len(test):
        return
    remedy = (
        "put labels into the test folder"
        if settings.test is not None
        else "label at least two images of a class at one site, or name a sites.test"
    )
    raise DataError(f"there is no labeled image to test on; {remedy}", code="FS3303")


def _leaks(
    sites: Sequence[SiteData],
    held_out: Sequence[np.ndarray],
    test: set[str],
    allowed: bool,
) -> list[str]:
    found = Counter(site for site, _ in overlap(sites, held_out, test))
    if not found:
        return []
    where = ", ".join(f"{name}: {count}" for name, count in found.items())
    text = f"{sum(found.values())} training images are also test images ({where})"
    if not allowed:
        raise DataError(
            f"{text} — stopped. Remove them (`fedsemi check` lists them), or set "
            "sites.allow_leak = true and trust no accuracy",
            code="FS3401",
        )
    return [f"FS3401 {text} — allowed, so the accuracy is too good."]


def _training(
    sites: Sequence[SiteData], held_out: Sequence[np.ndarray]
) -> tuple[ImageSet, Partition]:
    kept = [torch.from_numpy(~out) for out in held_out]
    pairs = list(zip(sites, kept, strict=True))
    labels = [site.labels[keep] for site, keep in pairs]
    clients, first = [], 0
    for part in labels:
        rows = np.arange(first, first + len(part))
        has = (part != UNKNOWN).numpy()
        clients.append(ClientIndex(rows[has], rows[~has]))
        first += len(part)
    images = torch.cat([site.images[keep] for site, keep in pairs])
    if not any(len(client.labeled) for client in clients):
        raise DataError("no site has a labeled image to learn from", code="FS3303")
    return ImageSet(images, torch.cat(labels)), Partition(tuple(clients))


def _groups(sites: Sequence[SiteData], held_out: Sequence[np.ndarray]) -> torch.Tensor:
    """Number the patients of the training images; whoever is unnamed is alone."""
    names = [
        f"{site.name}/{group}" if group else f"{site.name}/file {file}"
        for site, out in zip(sites, held_out, strict=True)
        for file, group, tested in zip(site.files, site.groups, out, strict=True)
        if not tested
    ]
    numbers = {name: number for number, name in enumerate(dict.fromkeys(names))}
    return torch.tensor([numbers[name] for name in names], dtype=torch.int64)


def _summary(
    names: Sequence[str], partition: Partition, left_out: Sequence[LeftOut]
) -> list[str]:
    lines = [
        f"client {k} = {name}: {len(c.labeled)} labeled, {len(c.unlabeled)} unlabeled"
        for k, (name, c) in enumerate(zip(names, partition.clients, strict=True))
    ]
    by_site = Counter(it.site for it in left_out)
    for name, count in by_site.items():
        first = next(it for it in left_out if it.site == name)
        lines.append(f"{name}: {count} left out, first: {first}")
    return lines
