"""Who owns which images: folders and files say it alone, and nothing beside them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fedsemi.data.site_settings import FOLDERS
from fedsemi.errors import ConfigError

if TYPE_CHECKING:
    from fedsemi.config.experiment import Experiment


def check_sites(experiment: Experiment) -> None:
    """Folders bring their own partition; nothing that would be ignored may be set."""
    data, own = experiment.data, experiment.data.name == FOLDERS
    if own != (experiment.sites is not None):
        raise ConfigError(
            "data.name = 'folders' and a section [sites] go together; `fedsemi init "
            "FOLDER...` writes both",
            code="FS4105",
        )
    if not own:
        return
    if data.image_size is None:
        raise ConfigError("'data.image_size' is missing, e.g. 32", code="FS4105")
    ignored = data.train_limit or data.test_limit or data.split != "image"
    if ignored or experiment.partition != type(experiment.partition)():
        raise ConfigError(
            "folders say who owns which images: leave out [partition] and data.split, "
            "train_limit and test_limit",
            code="FS4102",
        )


def check_partition_file(experiment: Experiment) -> None:
    """A file says who owns what; nothing that would be ignored may be set."""
    settings, data = experiment.partition, experiment.data
    if settings.file is None:
        return
    own = {"file", "sha256", "num_clients", "labeled_clients"}
    fixed = type(settings)()
    clashing = [
        f"partition.{name}"
        for name in type(settings).model_fields.keys() - own
        if getattr(settings, name) != getattr(fixed, name)
    ]
    clashing += ["data.train_limit"] if data.train_limit else []
    clashing += ["data.split"] if data.split != "image" else []
    if clashing:
        raise ConfigError(
            f"partition.file says who owns which images, so leave out "
            f"{', '.join(sorted(clashing))}",
            code="FS4141",
        )
