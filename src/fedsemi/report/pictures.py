"""Thumbnails of the images that a run's last model errs on or doubts.

They are made from the data wherever these can be read, for a page; no run keeps them
and none is sent. Data sets that anybody can get are shown unless one says no, own
images only if one says so: a page may be handed on.
"""

from __future__ import annotations

import io
from base64 import b64encode
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from PIL import Image
from torch import Tensor

from fedsemi.config.experiment import make_experiment
from fedsemi.data.datasets import DATASETS
from fedsemi.errors import DataError, FedSemiError
from fedsemi.plugins.registry import only
from fedsemi.report.run import Run
from fedsemi.simulation.build import Simulation, build

_SIDE = 64
"""Pixels; larger images are made smaller."""
_EXACT = 32
"""Up to this side every pixel is kept; JPEG would blur what few there are."""


@dataclass(frozen=True)
class Pictures:
    """What a page shows; if nothing, why not, for whoever makes the page."""

    mistakes: tuple[dict[str, Any], ...] = ()
    least_sure: tuple[dict[str, Any], ...] = ()
    """One for each client: its id and its images."""
    why_not: str = ""


NO_PICTURES = Pictures()


def pictures_of(
    run: Run, wanted: bool | None = None, data_dir: Path | None = None
) -> Pictures:
    """Find the images that the records of a run point at.

    Args:
        run: A finished run.
        wanted: Whether to show images; None for those that anybody can get.
        data_dir: Where the data sets are.

    Raises:
        FedSemiError: They are wanted, but cannot be read here.
    """
    if wanted is False or not _places(run):
        return NO_PICTURES
    if wanted is None and not _anybodys(run):
        return Pictures(
            why_not="no pictures of own images, for a page may be handed on; "
            "--pictures shows them"
        )
    if wanted:
        return _read(run, simulation_of(run, data_dir))
    try:
        # Whoever looks at somebody's run does not ask for code that it names.
        with only(frozenset()):
            return _read(run, simulation_of(run, data_dir))
    except FedSemiError as error:
        return Pictures(why_not=f"no pictures: {error}")


def _places(run: Run) -> bool:
    return bool(run.analysis.get("mistakes") or run.analysis.get("least_sure"))


def _anybodys(run: Run) -> bool:
    return run.config["data"]["name"] in DATASETS.own


def simulation_of(run: Run, data_dir: Path | None) -> Simulation:
    """Read the images of a run once more, and see that they are the same."""
    content = run.config | {"device": "cpu"}  # nothing is trained
    simulation = build(make_experiment(content), data_dir)
    if simulation.dataset.sha256 != run.manifest.get("data_sha256"):
        raise DataError(
            f"the images that '{run.path}' was made of have changed since; put them "
            "back, or make a report without pictures (--no-pictures)",
            code="FS1130",
        )
    return simulation


def _read(run: Run, simulation: Simulation) -> Pictures:
    test = simulation.dataset.test.images
    clients = {client.id: client for client in simulation.federation.clients}
    places = run.analysis.get("least_sure") or {}
    return Pictures(
        tuple(_shown(test, each) for each in run.analysis.get("mistakes") or ()),
        tuple(
            {
                "client": int(id),
                "images": [_shown(clients[int(id)].unlabeled_images, r) for r in rows],
            }
            for id, rows in places.items()
        ),
    )


def _shown(images: Tensor, place: dict[str, Any]) -> dict[str, Any]:
    words = {key: value for key, value in place.items() if key != "row"}
    return words | {"src": thumbnail(images[place["row"]])}


def thumbnail(image: Tensor, side: int = _SIDE, quality: int = 85) -> str:
    """Return an image, uint8 `[channels, H, W]`, as an address that holds all of it.

    Args:
        image: Of any size; its proportions are kept.
        side: Pixels; a larger image is made smaller.
        quality: Of the JPEG that all but tiny images become.
    """
    pixels = image.permute(1, 2, 0).contiguous().numpy()
    picture = Image.fromarray(pixels[:, :, 0] if pixels.shape[2] == 1 else pixels)
    picture.thumbnail((side, side))
    content, exact = io.BytesIO(), max(picture.size) <= _EXACT
    if exact:
        picture.save(content, "PNG", optimize=True)
    else:
        picture.save(content, "JPEG", quality=quality)
    kind = "png" if exact else "jpeg"
    return f"data:image/{kind};base64,{b64encode(content.getvalue()).decode()}"
