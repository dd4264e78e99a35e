"""[sites]: a federation whose clients are folders of images, one for each site."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, with_config

from fedsemi.data.decode import Pixels
from fedsemi.errors import ConfigError, DataError, nearest
from fedsemi.settings import STRICT, Positive, Share

Byte = Annotated[int, Field(ge=0, le=255)]
Channels = Literal[1, 3]
Labels = Literal["auto", "folders", "csv", "none"]

FOLDERS = "folders"
"""The name of the data set that [sites] describes."""

_MEAN = {1: (0.5,), 3: (0.485, 0.456, 0.406)}
_STD = {1: (0.25,), 3: (0.229, 0.224, 0.225)}


@with_config(STRICT)
@dataclass(frozen=True)
class SitesSettings:
    """[sites]: which folders, which classes, and how pictures become pixels."""

    folders: Annotated[list[str], Field(min_length=1)]
    """One folder for each site, relative to the config file."""
    classes: Annotated[list[str], Field(min_length=2)]
    """All classes of the federation, in the order of the network's outputs."""
    labels: Labels | dict[str, Labels] = "auto"
    """Where labels are: sub-folders, a labels.csv, nowhere, or see for yourself."""
    test: str | None = None
    """A labeled folder to test on; without it, a part of the labeled sites is used."""
    test_fraction: Annotated[float, Field(gt=0, lt=1)] = 0.2
    """Which part of each labeled site is for testing if there is no test folder."""
    patient: str | None = None
    """Regular expression whose first group, found in a file's path, is its patient."""
    channels: Channels = 3
    """1 for gray, 3 for color."""
    background: Annotated[list[Byte], Field(min_length=3, max_length=3)] = field(
        default_factory=lambda: [0, 0, 0]
    )
    """The color that shows through where pictures are transparent."""
    sixteen_bit_range: (
        Annotated[list[float], Field(min_length=2, max_length=2)] | None
    ) = None
    """The 16-bit values that become black and white, e.g. [0, 4095]."""
    mean: list[Share] | None = None
    """Mean of each channel on a scale from 0 to 1; the same at all sites."""
    std: list[Positive] | None = None
    """Standard deviation of each channel."""
    max_bad: Share = 0.01
    """Which part of a site's files, or of the rows of its CSV, may be unusable."""
    verify: Literal["off", "size", "full"] = "off"
    """Compare files with the manifest of `fedsemi check --write-manifest`."""
    allow_leak: bool = False
    """Go on although test images also occur in training."""

    def __post_init__(self) -> None:
        for name in (*(Path(folder).name for folder in self.folders), *self.classes):
            as_text(name)
        _distinct("classes", self.classes)
        for key in ("mean", "std"):
            if len(getattr(self, key) or [0] * self.channels) != self.channels:
                raise ConfigError(f"'sites.{key}' needs {self.channels} entries")
        _check_patient(self.patient)
        if self.sixteen_bit_range and not (
            self.sixteen_bit_range[0] < self.sixteen_bit_range[1]
        ):
            raise ConfigError("'sites.sixteen_bit_range' must rise, e.g. [0, 4095]")

    def check_folders(self) -> None:
        """Refuse two sites of one name, and labels of none; follows links to names.

        Apart from all else, for the folders in a plan are those of another machine: who
        reads it must not look for them.
        """
        names = [as_text(site_name(folder)) for folder in self.folders]
        _distinct("folders", names)
        if isinstance(self.labels, dict):
            for name in self.labels:
                if name not in names:
                    raise ConfigError(
                        f"'sites.labels' names the site '{name}'{nearest(name, names)};"
                        f" the sites are {', '.join(names)}"
                    )

    def beside(self, place: Path) -> SitesSettings:
        """Return the settings with all paths taken from `place`."""
        found = replace(
            self,
            folders=[str(place / folder) for folder in self.folders],
            test=None if self.test is None else str(place / self.test),
        )
        found.check_folders()
        return found

    def labels_of(self, site: str) -> Labels:
        """Return where the labels of one site are."""
        if isinstance(self.labels, dict):
            return self.labels.get(site, "auto")
        return self.labels

    def pixels(self, side: int) -> Pixels:
        """Say how pictures are to be decoded."""
        red, green, blue = self.background
        limits = self.sixteen_bit_range
        return Pixels(
            side,
            self.channels,
            (red, green, blue),
            None if limits is None else (limits[0], limits[1]),
        )

    @property
    def channel_mean(self) -> tuple[float, ...]:
        """The mean of each channel, given or usual."""
        return tuple(self.mean or _MEAN[self.channels])

    @property
    def channel_std(self) -> tuple[float, ...]:
        """The standard deviation of each channel, given or usual."""
        return tuple(self.std or _STD[self.channels])


def site_name(folder: str | Path) -> str:
    """Return the name of a site: the last part of its folder's path."""
    return Path(folder).resolve().name


def as_text(name: str) -> str:
    """Return the name of a site or class if a config can hold it."""
    try:
        name.encode("utf-8")
    except UnicodeEncodeError:
        raise DataError(
            f"'{name}' is not UTF-8 text, which names of sites and classes must be; "
            "rename the folder, or save labels.csv as UTF-8",
            code="FS3030",
        ) from None
    return name


def existing(folder: Path) -> Path:
    """Return the folder if it is one."""
    if not folder.is_dir():
        raise DataError(
            f"there is no folder '{folder}'; give one folder for each site",
            code="FS3001",
        )
    return folder


def _distinct(key: str, names: list[str]) -> None:
    for name in names:
        if names.count(name) > 1:
            raise ConfigError(f"'sites.{key}' names '{name}' twice")


def _check_patient(pattern: str | None) -> None:
    if pattern is None:
        return
    try:
        groups = re.compile(pattern).groups
    except re.error as error:
        raise ConfigError(
            f"'sites.patient' is no regular expression: {error}"
        ) from None
    if groups != 1:
        raise ConfigError(
            f"'sites.patient' has {groups} groups in brackets; exactly one must hold "
            "the patient, e.g. '(P[0-9]+)_'"
        )
