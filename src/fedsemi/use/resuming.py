"""Which runs may be continued here, whoever asks."""

from __future__ import annotations

from pathlib import Path

from fedsemi.errors import ConfigError, StorageError
from fedsemi.runs.checkpoint import Checkpoint
from fedsemi.runs.folder import RunFolder
from fedsemi.text.printable import typed


def config_of(run: Path) -> Path:
    """Return the settings that a run was begun with."""
    path = run / "config.json"
    if not path.is_file():
        raise StorageError(
            f"'{run}' is not the folder of a run; give what --out named", code="FS1110"
        )
    return path


def refuse_coordinators_run(run: Path) -> None:
    """Leave a run alone that only its coordinator can continue."""
    coordinator = run.absolute().parent
    if (coordinator / "plan.json").is_file() and (coordinator / "enrolled").is_dir():
        raise ConfigError(
            f"'{run}' is the run of a coordinator; continue it with "
            f"`{typed('fedsemi', 'server', run.parent)}`",
            code="FS1125",
        )


def kept_by_sites(start: Checkpoint | None) -> bool:
    """Tell whether a checkpoint lacks what clients remember, as sites keep it."""
    memories = {} if start is None else start.memories
    return any("after" in memory for memory in memories.values())


def refuse_flower_run(folder: RunFolder) -> None:
    """Refuse a checkpoint that lacks what the sites remember."""
    if kept_by_sites(folder.start):
        raise ConfigError(
            "this run was made on Flower, where the sites keep their memories; begin "
            "it again with --overwrite",
            code="FS4110",
        )


def take_beginning_for_granted(folder: RunFolder) -> None:
    """Leave out where a run begins, for who always goes on; what is wrong stays."""
    folder.notices = [each for each in folder.notices if not each.startswith("FS1001")]
