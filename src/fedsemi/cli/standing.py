"""Commands of a site's owner: leave for good, be away for a while, come back."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from fedsemi.data.site import read_id
from fedsemi.deployment.site.standing import (
    Standing,
    moment,
    read_standing,
    write_standing,
)
from fedsemi.errors import ConfigError
from fedsemi.text.screen import say

_Folder = Annotated[Path, typer.Argument(help="The site's folder.")]
_HOUR = 3600.0


def leave(folder: _Folder) -> None:
    """Leave the federation for good; a running `fedsemi site` says so and ends.

    What the site remembers stays on its disk. Its coordinator can let it in again.

    Example: fedsemi site leave site-2
    """
    _must_be_site(folder)
    write_standing(folder, Standing("left"))
    say("this site leaves: its coordinator is told when it next asks")


def pause(
    folder: _Folder,
    hours: Annotated[
        float | None, typer.Option(min=0.0, help="Back by itself after so many.")
    ] = None,
) -> None:
    """Be away for a while: the rounds go on without this site, its memory stays.

    A task that is being carried out is finished. `fedsemi site` may run on or be
    stopped meanwhile.

    Example: fedsemi site pause site-2 --hours 24
    """
    _must_be_site(folder)
    until = None if hours is None else time.time() + hours * _HOUR
    write_standing(folder, Standing("away", until))
    said = "`fedsemi site return`" if until is None else moment(until)
    say(f"this site is away until {said}")


def come_back(folder: _Folder) -> None:
    """Take part again after a pause; who has left needs its coordinator, too.

    Example: fedsemi site return site-2
    """
    _must_be_site(folder)
    before = read_standing(folder)
    write_standing(folder, Standing())
    if before.state == "left" and before.told:
        say("this site is ready; have its coordinator run `fedsemi admit` for it")
    else:
        say("this site takes part again, from the next round on")


def _must_be_site(folder: Path) -> None:
    if read_id(folder) is None:
        raise ConfigError(f"'{folder}' is no folder of a site", code="FS5045")
