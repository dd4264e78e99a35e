"""Commands about somebody's own images: look them over, write a config for them."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import torch
import typer
from rich.console import Console
from rich.text import Text

from fedsemi.cli.folder_tables import class_table, counted, site_table
from fedsemi.config.experiment import load_config
from fedsemi.config.setting import own_conditions
from fedsemi.data.check import Finding, Report
from fedsemi.data.check import check as check_folders
from fedsemi.data.checksums import write_manifest
from fedsemi.data.label_table import LEFT_OUT, PROBLEMS, write_left_out
from fedsemi.data.site_settings import SitesSettings
from fedsemi.data.sites import FolderFederation
from fedsemi.data.starter import starter_config
from fedsemi.data.survey import (
    Proposal,
    Survey,
    image_size,
    propose,
    require_classes,
    survey,
)
from fedsemi.engines.in_process import one_thread
from fedsemi.errors import CannotCreate, ConfigError, DataError
from fedsemi.models import ModelSpec
from fedsemi.storage import make_folder, write_whole
from fedsemi.text.printable import printable, typed
from fedsemi.text.screen import LINE, Screen
from fedsemi.use.progress import duration

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
    proposal = propose(seen, survey(test) if test else None)
    settings = proposal.settings
    require_classes(settings.classes)
    make_folder(out.absolute().parent)
    text = starter_config(settings, seen, out.absolute().parent)
    write_whole(out, text.encode())
    load_config(out)
    console = Screen()
    sites = "1 site" if len(seen) == 1 else f"{len(seen)} sites"
    console.print(f"{sites}, {len(settings.classes)} classes: {out}")
    where = ", the test folder included" if test else ""
    known = f"classes{where}: {counted(proposal.counts)}"
    for line in (known, *_conclusions(proposal), *_not_followed(seen)):
        console.print(line, highlight=False)
    if len(seen) == 1 and seen[0].sites:
        for hint in _instead(seen[0], out):
            console.print(hint, soft_wrap=True, highlight=False)
    check, run = (typed("fedsemi", word, out) for word in ("check", "run"))
    console.print(f"next: {check}; {run}", soft_wrap=True)


def _not_followed(seen: Sequence[Survey]) -> Iterator[str]:
    """Name links, which would else be missed in silence."""
    for each in seen:
        if each.links:
            more = f" and {len(each.links) - 1} more" if len(each.links) > 1 else ""
            yield printable(
                f"{each.name}: {each.links[0]}{more} is a link and not followed; copy "
                "the pictures into the folder"
            )


def _conclusions(proposal: Proposal) -> Iterator[str]:
    """Say what was not taken for a class, and which class may be none."""
    if proposal.slips:
        slips = [f"{name} ({meant})" for name, meant in proposal.slips.items()]
        yield f"taken for typing slips, not classes: {', '.join(slips)}"
    for site in proposal.unlabeled:
        yield (
            f"{site.name}: taken as unlabeled, since no other site knows its "
            f"sub-folders as classes ({', '.join(site.classes)})"
        )
    for name, sites in proposal.untested.items():
        yield (
            f"warning: the test folder has no '{name}' as {', '.join(sites)} has; if "
            "it is no class, rename it there and write the config again"
        )


def _instead(parent: Survey, out: Path) -> Iterator[Text | str]:
    """Say what to type if the sites are the sub-folders of the folder given."""
    tests = [name for name in parent.sites if name.lower().startswith("test")][:1]
    sites = [name for name in parent.sites if name not in tests]
    words: list[str | Path] = [parent.folder / name for name in sites]
    words += [word for name in tests for word in ("--test", parent.folder / name)]
    yield Text.assemble(
        ("warning", "yellow"),
        f": '{printable(parent.name)}' looks like a folder of sites, and each site was "
        "taken for a class; if so, type",
    )
    yield f"  {typed('fedsemi', 'init', *words, '--out', out, '--force')}"


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
    out: Annotated[Path, typer.Option(help="Folder for problems.csv.")] = Path(
        "runs/check"
    ),
) -> None:
    """Look images over before training: counts, damage, duplicates, leaks, cost.

    Reads everything and moves nothing. The exit code is 65 if training would stop.

    Example: fedsemi check hospital-a hospital-b
    """
    about = _described(folders, test)
    settings = about.settings
    started = time.perf_counter()
    report = check_folders(settings, about.model.image_size, about.seed)
    seconds = time.perf_counter() - started
    console = Screen()
    for line in about.conclusions:
        console.print(line, highlight=False)
    console.print(site_table(report))
    if settings.classes:
        console.print()
        console.print(class_table(report, settings.classes))
    _print_findings(report, console)
    _print_cost(report, seconds, about, console)
    if manifest:
        paths = [*settings.folders, *([settings.test] if settings.test else [])]
        for folder, site in zip(paths, report.everyone, strict=True):
            entries = dict(zip(site.files, site.entries, strict=True))
            console.print(f"wrote {write_manifest(Path(folder), entries)}")
    if report.problems:
        write_left_out(make_folder(out) / PROBLEMS, report.problems)
        console.print(
            f"{len(report.problems)} to look at ({len(report.left_out)} of them left "
            f"out), listed in {out / PROBLEMS}"
        )
    if stops := [finding for finding in report.findings if finding.stops]:
        console.print(_way_out(stops), soft_wrap=True, highlight=False)
        raise typer.Exit(DataError.exit_code)
    ready = len(settings.classes) > 1
    console.print("training can start" if ready else "the images can be used")


def _way_out(stops: list[Finding]) -> str:
    """Say what lets training start: one setting, if bad files are all that stops it."""
    limits = [finding.max_bad for finding in stops]
    text = "training would stop: do what the lines marked stop say"
    if None in limits:
        return text
    most = max(limit for limit in limits if limit is not None)
    return f"{text}, or leave these files out with max_bad = {most} in [sites]"


def show_folders(folders: FolderFederation, out: Path, console: Console) -> None:
    """Say what was read from the folders, and list in `out` what was left out."""
    for note in folders.notes:
        console.print(note, soft_wrap=True, highlight=False)
    if folders.left_out:
        write_left_out(make_folder(out) / LEFT_OUT, folders.left_out)
        console.print(f"all {len(folders.left_out)} are listed in {out / LEFT_OUT}")


@dataclass(frozen=True)
class _Described:
    """What is checked: from a config, or proposed."""

    settings: SitesSettings
    seed: int
    model: ModelSpec
    rounds: int = 0
    """Of all stages; 0 without a config."""
    passes: int = 0
    """Over the data, in all rounds."""
    conclusions: tuple[str, ...] = ()
    """About classes, if the settings are proposed; else about the config's card."""


def _described(folders: list[Path], test: Path | None) -> _Described:
    if folders[0].suffix != ".toml":
        seen = [survey(folder) for folder in folders]
        proposal = propose(seen, survey(test) if test else None)
        settings = proposal.settings
        model = _model(settings, "resnet8", 16, image_size(seen))
        told = tuple(_conclusions(proposal))
        return _Described(settings, 1, model, conclusions=told)
    experiment = load_config(folders[0])
    if experiment.sites is None:
        raise ConfigError(f"'{folders[0]}' has no [sites]", code="FS4105")
    network, size = experiment.model, experiment.data.image_size or 32
    return _Described(
        experiment.sites,
        experiment.seed,
        replace(
            _model(experiment.sites, network.name, network.width, size),
            settings=network.settings,
        ),
        sum(stage.rounds for stage in experiment.stages),
        sum(s.rounds * experiment.local_of(s).epochs for s in experiment.stages),
        tuple(own_conditions(experiment)),
    )


def _model(
    settings: SitesSettings, name: str, width: int | None, size: int
) -> ModelSpec:
    num_classes = max(2, len(settings.classes))  # an unlabeled folder shows none
    return ModelSpec(name, num_classes, settings.channels, width, size)


def _print_findings(report: Report, console: Console) -> None:
    for finding in report.findings:
        mark = ("stop", "red") if finding.stops else "note"
        remedy = f" → {finding.remedy}" if finding.remedy else ""
        text = printable(f"  {finding.text}{remedy}", LINE)
        console.print(Text.assemble(mark, text), soft_wrap=True, highlight=False)


def _print_cost(
    report: Report, seconds: float, about: _Described, console: Console
) -> None:
    images, model = sum(len(site) for site in report.sites), about.model
    per_pass = images * _seconds_per_image(model)
    rounds = f", all {about.rounds} rounds about {duration(per_pass * about.passes)}"
    console.print(
        f"reading took {duration(seconds)}; {report.megabytes:,.0f} MB of memory for "
        f"the images; one round of {model.name} at {model.image_size} pixels about "
        f"{duration(per_pass)}{rounds if about.rounds else ''} on one core",
        soft_wrap=True,
        highlight=False,
    )


def _seconds_per_image(model: ModelSpec) -> float:
    """Time one step of learning; labeling by the teacher costs a third more.

    The first steps warm up, and others may use the machine: the fastest counts.
    """
    network = model.build(0).train()
    batch = torch.zeros(8, model.in_channels, model.image_size, model.image_size)
    seconds = []
    with one_thread():
        for _ in range(4):
            started = time.perf_counter()
            network(batch).logits.sum().backward()
            seconds.append(time.perf_counter() - started)
    return min(seconds) / len(batch) * 4 / 3
