"""Commands of a coordinator's operator: who takes part, who is let in, who is not."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from fedsemi.cli.options import require_flower
from fedsemi.errors import ConfigError
from fedsemi.text.screen import Screen, say

_Coordinator = Annotated[Path, typer.Argument(help="Folder with plan.json and keys/.")]
_Site = Annotated[int, typer.Argument(min=0, help="The site's number.")]


def members(folder: _Coordinator) -> None:
    """List the sites of a federation: enrolled, away, left or retired.

    Example: fedsemi members trial/coordinator
    """
    require_flower()
    from fedsemi.deployment.coordinator.members import Members
    from fedsemi.deployment.coordinator.register import agreed_counts, read_enrolled

    absent, enrolled = Members(folder).absent(), read_enrolled(folder)
    table = Table("site", "labeled", "unlabeled", "takes part", box=None)
    for site in sorted(enrolled.keys() | absent.keys()):
        counts = agreed_counts(folder, site)
        shown = ["?", "?"] if counts is None else [f"{count:,}" for count in counts]
        table.add_row(
            str(site), *shown, absent[site].reason if site in absent else "yes"
        )
    Screen().print(table)


def admit(
    folder: _Coordinator,
    site: _Site,
    key: Annotated[
        Path | None, typer.Option(help="Public key, from the owner's hand.")
    ] = None,
    labeled: Annotated[
        int | None, typer.Option(min=0, help="Labeled images, as agreed.")
    ] = None,
    unlabeled: Annotated[
        int | None, typer.Option(min=0, help="Unlabeled images, as agreed.")
    ] = None,
) -> None:
    """Let a site join a federation, also one that is running; nothing is restarted.

    Without --key a site that has left, or was retired by mistake, is let in again.

    Example: fedsemi admit trial/coordinator 3 --key site-3.pub
    """
    require_flower()
    from fedsemi.deployment.coordinator.admission import admit as let_in

    if (labeled is None) != (unlabeled is None):
        raise ConfigError(
            "give both --labeled and --unlabeled, or neither", code="FS5045"
        )
    counts = None
    if labeled is not None and unlabeled is not None:
        counts = labeled, unlabeled
    running = let_in(folder, site, key, counts)
    when = "from the round after it has connected" if running else "in the next run"
    say(f"site {site} may take part {when}")


def retire(folder: _Coordinator, site: _Site) -> None:
    """Do without a site from the next round on, and refuse its key at the door.

    Example: fedsemi retire trial/coordinator 2
    """
    require_flower()
    from fedsemi.deployment.coordinator.admission import retire as let_out

    let_out(folder, site)
    say(f"site {site} takes no part from the next round on; its key is in retired/")
