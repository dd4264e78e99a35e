"""The pictures of a site's folder, with and without labels, as asking sees them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from fedsemi.config.method_settings import parsed
from fedsemi.data.folder_files import listed
from fedsemi.data.folder_labels import LABELS_FILE, known_labels, refuse_foreign
from fedsemi.data.label_writer import write_label
from fedsemi.data.site_settings import Labels, SitesSettings, site_name
from fedsemi.errors import ConfigError, DataError
from fedsemi.runs.folder import read_json

_PACKED = "site.safetensors"


@dataclass(frozen=True)
class Shelf:
    """One site's folder and the classes of its federation."""

    folder: Path
    classes: tuple[str, ...]
    kind: Labels = "auto"
    """Where the config of the run looks for this site's labels."""

    def pictures(self) -> tuple[list[str], dict[str, str]]:
        """Return the pictures without a label, by name, and the labels of the others.

        Those about which the table says something wrong are neither.
        """
        name = site_name(self.folder)
        files, _ = listed(self.folder, name)
        known = known_labels(self.folder, name, self._settings, files)
        refuse_foreign(known.left_out, self.classes)
        there = set(files)
        labels = {f: label for f, label in known.classes.items() if f in there}
        bare = [f for f in files if f not in labels and f not in known.faulty]
        return bare, labels

    def write(self, file: str, label: str | None) -> None:
        """Put a label into the table of the site, or take it out again.

        Where sub-folders were the labels, the new table begins with all of them.
        """
        others: Mapping[str, str] = {}
        if not (self.folder / LABELS_FILE).exists():
            others = self.pictures()[1]
        write_label(self.folder, file, label, self.classes, others)

    @property
    def advice(self) -> str | None:
        """What to change in the config, if the next run would not read the table."""
        if self.kind in ("auto", "csv"):
            return None
        name = site_name(self.folder)
        return (
            f'the config of this run says labels = "{self.kind}" for {name}; write '
            f'{name} = "csv" there, or the next run does not read {LABELS_FILE}'
        )

    @property
    def _settings(self) -> SitesSettings:
        # A table counts as soon as there is one, whatever an older config says.
        table = (self.folder / LABELS_FILE).exists()
        kind: Labels = "none" if self.kind == "none" and not table else "auto"
        return SitesSettings([str(self.folder)], list(self.classes), labels=kind)


def open_shelf(run: Path, folder: Path | None, classes: tuple[str, ...]) -> Shelf:
    """Find the pictures that a run can be asked about.

    Args:
        run: The folder of a run, or an exported model.
        folder: Of the site's pictures; None if nobody said.
        classes: What the model tells apart.

    Raises:
        ConfigError: It is not said which folder, or there can be none.
        DataError: The folder is missing, or holds no picture files.
    """
    sites = _sites_of(run)
    if folder is None:
        raise ConfigError(_no_folder(run, sites), code="FS6401")
    if not folder.is_dir():
        raise DataError(
            f"there is no folder '{folder}'; give the site's folder of pictures",
            code="FS3001",
        )
    if (folder / _PACKED).exists():
        raise DataError(
            f"'{folder}' is what `fedsemi pack` made of pictures, which have no names "
            "there; give the folder of the pictures, and pack it again afterwards",
            code="FS6402",
        )
    kind = sites.labels_of(site_name(folder)) if sites else "auto"
    return Shelf(folder, classes, kind)


def _sites_of(run: Path) -> SitesSettings | None:
    path = run / "config.json"
    found = read_json(path).get("sites") if path.exists() else None
    return None if found is None else parsed(SitesSettings, found)


def _no_folder(run: Path, sites: SitesSettings | None) -> str:
    if sites is not None:
        return (
            f"name the site's folder of pictures, e.g. --data {sites.folders[0]}; each "
            "site asks about its own"
        )
    if (run / "config.json").exists():
        return (
            f"'{run}' is of a data set dealt out by a simulation, which knows all "
            "labels: there is nobody to ask. `fedsemi label-curve CONFIG` measures "
            "what asking would bring; --data FOLDER asks about pictures in a folder"
        )
    return "name the site's folder of pictures: --data FOLDER"
