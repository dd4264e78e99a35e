"""The test images of folders, with what their tables say beside the class."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from fedsemi.data.dataset import ImageSet
from fedsemi.data.folder import SiteData


@dataclass(frozen=True, eq=False)
class Tested:
    """Test images; row i of every field is the same image."""

    images: ImageSet
    sites: tuple[str, ...]
    """Whose folder each is from."""
    columns: Mapping[str, tuple[str, ...]]
    """What the tables say; blank where a site has no such column."""
    groups: Tensor | None
    """The patient of each, numbered; None if no table names any."""
    digests: set[str]
    """Fingerprints of their pixels."""


def tested(parts: Sequence[tuple[SiteData, npt.NDArray[np.bool_]]]) -> Tested:
    """Join the chosen rows of each site; all of them have labels."""
    chosen = [(site, np.flatnonzero(rows)) for site, rows in parts]
    names = dict.fromkeys(name for site, _ in chosen for name in site.columns)
    return Tested(
        images=ImageSet(
            torch.cat([site.images[torch.from_numpy(rows)] for site, rows in chosen]),
            torch.cat([site.labels[torch.from_numpy(rows)] for site, rows in chosen]),
        ),
        sites=tuple(site.name for site, rows in chosen for _ in rows),
        columns={name: _column(chosen, name) for name in names},
        groups=_groups(chosen),
        digests={site.pixel_digests[row] for site, rows in chosen for row in rows},
    )


def _column(
    chosen: Sequence[tuple[SiteData, npt.NDArray[np.int64]]], name: str
) -> tuple[str, ...]:
    words = []
    for site, rows in chosen:
        column = site.columns.get(name)
        words += ["" if column is None else column[row] for row in rows]
    return tuple(words)


def _groups(chosen: Sequence[tuple[SiteData, npt.NDArray[np.int64]]]) -> Tensor | None:
    """Number the patients; an image of an unnamed one stands alone."""
    if not any(site.groups[row] for site, rows in chosen for row in rows):
        return None
    owners = [
        f"{site.name}/{site.groups[row] or f'file {site.files[row]}'}"
        for site, rows in chosen
        for row in rows
    ]
    return torch.from_numpy(np.unique(owners, return_inverse=True)[1].astype(np.int64))
