"""The command that shows who gets which images."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fedsemi.cli.options import ConfigPath, DataDir, Overrides
from fedsemi.config.experiment import load_config
from fedsemi.data.label_gaps import partition_gaps
from fedsemi.data.show import partition_table, save_heatmap
from fedsemi.simulation.build import load_dataset, partition_of, read_folders
from fedsemi.storage import make_folder
from fedsemi.text.screen import Screen, warn


def partition(
    config: ConfigPath,
    overrides: Overrides = None,
    data_dir: DataDir = None,
    out: Annotated[
        Path, typer.Option(help="Folder for partition.json and partition.png.")
    ] = Path("runs/partition"),
) -> None:
    """Show who owns which images: a table here, and a heat map as a picture.

    Example: fedsemi partition configs/digits.toml --set partition.dirichlet_alpha=0.1
    """
    experiment = load_config(config, overrides or [])
    folders = read_folders(experiment)
    if folders is not None:
        dataset, drawn = folders.dataset, folders.partition
    else:
        dataset = load_dataset(experiment, data_dir)
        drawn = partition_of(experiment, dataset, data_dir)
    labels = dataset.train.labels.numpy()
    console = Screen()
    console.print(partition_table(drawn, labels, dataset.class_names))
    warn(console, partition_gaps(drawn, labels, dataset.class_names).warnings)
    make_folder(out)
    drawn.save(out / "partition.json")
    save_heatmap(drawn, labels, dataset.class_names, out / "partition.png")
    console.print(f"SHA-256 {drawn.sha256}", soft_wrap=True)
    console.print(f"saved {out / 'partition.json'} and {out / 'partition.png'}")
