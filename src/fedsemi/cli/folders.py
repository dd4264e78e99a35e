"""Commands about somebody's own images: look them over, write a config for them."""

from __future__ import annotations

import time
from collections import Counter
from pathlib import Path
from typing import Annotated

import torch
import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from fedsemi.config import load_config
from fedsemi.data.check import Finding, Report
from fedsemi.data.check import check as check_folders
from fedsemi.data.dataset import UNKNOWN
from fedsemi.data.folder import SiteData
from fedsemi.data.label_table import LEFT_OUT, write_left_out
from fedsemi.data.manifest import write_manifest
from fedsemi.data.site_settings import SitesSettings
from fedsemi.data.sites import FolderFederation
from fedsemi.data.survey import classes_and_slips, image_size, propose, survey
from fedsemi.engines.in_process import one_thread
from fedsemi.errors import CannotCreate, ConfigError, DataError
from fedsemi.models import ModelSpec
from fedsemi.progress import duration
from fedsemi.starter import starter_config
from fedsemi.storage import make_folder, write_whole

Folders = Annotated[
    list[Path], typer.Argument(help="A folder for each site.", show_default=False)
]
TestFolder = Annotated[
    Path | None, typer.Option("--test", help="A labeled folder to test on.")
]


def init(
    folders: Folders,
    out: Annotated[Path, typer.Option(help="The config to write.")] = Path(
        "federation.toml"
    ),
    test: TestFolder = None,
    force: Annotated[bool, typer.Option(help="Replace an existing file.")] = False,
) -> None:
    """Write a working config for folders of images, one for each site.

    Example: fedsemi init hospital-a hospital-b --out federation.toml
    """
    if out.exists() and not force:
        raise CannotCreate(f"'{out}' exists; choose another --out, or --force")
    seen = [survey(folder) for folder in folders]
    settings = propose(seen, survey(test) if test else None)
    make_folder(out.absolute().parent)
    text = starter_config(settings, seen, out.absolute().parent)
    write_whole(out, text.encode())
    load_config(out)
    console = Console()
    console.print(f"{len(seen)} sites, {len(settings.classes)} classes: {out}")
    _, slips = classes_and_slips(seen)
    if slips:
        console.print(
            f"taken for typing slips, not classes: {escape(', '.join(slips))}"
        )
    console.print(f"next: fedsemi check {out}; fedsemi run {out}", soft_wrap=True)


def check(
    folders: Annotated[
        list[Path],
        typer.Argument(help="Folders, one a site, or one config.", show_default=False),
    ],
    test: TestFolder = None,
    manifest: Annotated[
        bool,
        typer.Option(
            "--write-manifest", help="Write size and SHA-256 of every usable image."
        ),
    ] = False,
    out: Annotated[Path, typer.Option(help="Folder for left_out.csv.")] = Path(
        "runs/check"
    ),
) -> None:
    """Look images over before training: counts, damage, duplicates, leaks, cost.

    Reads everything and moves nothing. The exit code is 65 if training would stop.

    Example: fedsemi check hospital-a hospital-b
    """
    settings, size, seed, model = _described(folders, test)
    started = time.perf_counter()
    report = check_folders(settings, size, seed)
    seconds = time.perf_counter() - started
    console = Console()
    console.print(_site_table(report, settings.classes))
    _print_findings(report, console)
    _print_cost(report, seconds, model, console)
    if manifest:
        paths = [*settings.folders, *([settings.test] if settings.test else [])]
        for folder, site in zip(paths, report.everyone, strict=True):
            entries = dict(zip(site.files, site.entries, strict=True))
            console.print(f"wrote {write_manifest(Path(folder), entries)}")
    if report.left_out:
        write_left_out(make_folder(out) / LEFT_OUT, report.left_out)
        console.print(f"{len(report.left_out)} left out, listed in {out / LEFT_OUT}")
    if stops := [finding for finding in report.findings if finding.stops]:
        console.print(_way_out(stops), soft_wrap=True, highlight=False)
        raise typer.Exit(DataError.exit_code)
    console.print("training can start")


def _way_out(stops: list[Finding]) -> str:
    """Say what lets training start: one setting, if bad files are all that stops it."""
    limits = [finding.max_bad for finding in stops]
    text = "training would stop: do what the lines marked stop say"
    if None in limits:
        return text
    most = max(limit for limit in limits if limit is not None)
    return f"{text}, or leave these files out with max_bad = {most} in \\[sites]"


def show_folders(folders: FolderFederation, out: Path, console: Console) -> None:
    """Say what was read from the folders, and list in `out` what was left out."""
    for note in folders.notes:
        console.print(escape(_printable(note)), soft_wrap=True, highlight=False)
    if folders.left_out:
        write_left_out(make_folder(out) / LEFT_OUT, folders.left_out)
        console.print(f"all {len(folders.left_out)} are listed in {out / LEFT_OUT}")


def _described(
    folders: list[Path], test: Path | None
) -> tuple[SitesSettings, int, int, ModelSpec]:
    """Return settings, image size, seed and network: from a config, or proposed."""
    if folders[0].suffix == ".toml":
        experiment = load_config(folders[0])
        if experiment.sites is None:
            raise ConfigError(f"'{folders[0]}' has no [sites]", code="FS4105")
        size, settings = experiment.data.image_size or 32, experiment.sites
        model, width = experiment.model.name, experiment.model.width
        seed = experiment.seed
    else:
        seen = [survey(folder) for folder in folders]
        settings = propose(seen, survey(test) if test else None)
        size, model, width, seed = image_size(seen), "resnet8", 16, 1
    spec = ModelSpec(model, len(settings.classes), settings.channels, width, size)
    return settings, size, seed, spec


def _site_table(report: Report, classes: list[str]) -> Table:
    table = Table(box=None, header_style="dim", padding=(0, 2))
    for name in ("site", "images", "labeled", "left out", "sizes", "modes", "classes"):
        table.add_column(name, no_wrap=name in ("site", "sizes"))
    for site in report.everyone:
        name = f"{site.name} (test)" if site is report.test else site.name
        labeled = int((site.labels != UNKNOWN).sum())
        counts = torch.bincount(site.labels[site.labels != UNKNOWN])
        table.add_row(
            escape(_printable(name)),
            f"{len(site):,}",
            f"{labeled:,}" if labeled else "–",
            str(len(site.left_out) or "–"),
            _sizes(site),
            ", ".join(mode for mode, _ in Counter(site.modes).most_common()),
            ", ".join(
                f"{escape(classes[label])} {n}"
                for label, n in enumerate(counts.tolist())
                if n
            ),
        )
    return table


def _sizes(site: SiteData) -> str:
    if not site.sizes:
        return "–"
    widths, heights = zip(*site.sizes, strict=True)
    low, high = f"{min(widths)}x{min(heights)}", f"{max(widths)}x{max(heights)}"
    return low if low == high else f"{low} to {high}"


def _print_findings(report: Report, console: Console) -> None:
    for finding in report.findings:
        mark = "[red]stop[/red]" if finding.stops else "note"
        text = escape(_printable(finding.text))
        remedy = f" → {escape(finding.remedy)}" if finding.remedy else ""
        console.print(f"{mark}  {text}{remedy}", soft_wrap=True, highlight=False)


def _print_cost(
    report: Report, seconds: float, model: ModelSpec, console: Console
) -> None:
    images = sum(len(site) for site in report.sites)
    per_round = images * _seconds_per_image(model)
    console.print(
        f"reading took {duration(seconds)}; {report.megabytes:,.0f} MB of memory for "
        f"the images; one round of {model.name} at {model.image_size} pixels about "
        f"{duration(per_round)} on one core",
        soft_wrap=True,
        highlight=False,
    )


def _seconds_per_image(model: ModelSpec) -> float:
    """Time one step of learning; labeling by the teacher costs a third more."""
    network = model.build(0).train()
    batch = torch.zeros(8, model.in_channels, model.image_size, model.image_size)
    with one_thread():
        started = time.perf_counter()
        for _ in range(2):
            network(batch).logits.sum().backward()
    return (time.perf_counter() - started) / 16 * 4 / 3


def _printable(text: str) -> str:
    return text.encode("utf-8", "replace").decode()
