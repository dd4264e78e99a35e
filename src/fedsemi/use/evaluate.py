"""Test a model on labeled pictures: of a table, of a folder, or those of its run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from fedsemi.client.subgroups import MOST_SUBGROUPS, banded
from fedsemi.config.pixel_settings import changed_pixels
from fedsemi.data.folder_labels import Known, known_labels
from fedsemi.data.label_table import read_table
from fedsemi.data.safe_files import Refused, read_regular
from fedsemi.data.site_settings import SitesSettings
from fedsemi.errors import ConfigError, DataError, nearest
from fedsemi.report.analysis import predictor
from fedsemi.report.evaluation import Outcome, evaluated, facts_of, write_evaluation
from fedsemi.report.pictures import simulation_of
from fedsemi.report.run import read_run
from fedsemi.runs.folder import MODEL
from fedsemi.runs.model_card import ModelCard
from fedsemi.storage import read_weights
from fedsemi.use.predict import Model, open_model, pictures, read_picture

_BATCH = 64


@dataclass(frozen=True)
class Evaluation:
    """What a test found, and what it could not look at."""

    facts: dict[str, Any]
    """As in evaluation.json."""
    left_out: tuple[str, ...] = ()
    """Pictures and rows that cannot be used, and why."""


def evaluate_run(path: Path, by: Sequence[str], data_dir: Path | None) -> Evaluation:
    """Test the model of a run on its own test images, and keep evaluation.json.

    Args:
        path: The folder of a finished run.
        by: Columns of the data set's test table; none for all of them.
        data_dir: Where the data sets are.
    """
    run = read_run(path)
    if not run.finished:
        raise ConfigError(
            f"'{path}' has no model yet, for the run is not over; continue it with "
            "`fedsemi run --resume`",
            code="FS3510",
        )
    simulation = simulation_of(run, data_dir)
    dataset = simulation.dataset
    chosen = _chosen(dataset.test_metadata, by, f"the test set of '{path}'")
    simulation = replace(simulation, dataset=replace(dataset, test_metadata=chosen))
    weights = read_weights(path / MODEL)
    probs_of = predictor(simulation, weights)
    probs = probs_of(dataset.test.images) if len(dataset.test) else None
    facts = evaluated(simulation, weights, probs_of, probs)
    write_evaluation(path, facts)
    return Evaluation(facts)


def evaluate_table(
    model: Path, table: Path, by: Sequence[str], overrides: Sequence[str] = ()
) -> Evaluation:
    """Test a model on pictures whose classes a table, or sub-folders, tell.

    Args:
        model: The folder of a run, or an exported model.
        table: A CSV beside the pictures that it names, or their folder.
        by: Columns of the table; none for all that divide pictures into kinds.
        overrides: As for `predictions`.
    """
    run, card = open_model(model)
    card = replace(card, pixels=changed_pixels(card.pixels, overrides))
    folder, known = _known(table, card)
    _check_names(known.columns, by, f"'{table}'")  # a slip is told before the work
    faults = [str(it) for it in known.left_out]
    files, probs = _answers(run, card, folder, sorted(known.classes), faults)
    if not files:
        raise DataError(
            f"'{table}' names no labeled picture that can be read"
            + (f"; the first: {faults[0]}" if faults else "; see docs/evaluating.md"),
            code="FS3511",
        )
    columns = {
        name: tuple(words.get(file, "") for file in files)
        for name, words in known.columns.items()
    }
    outcome = Outcome(
        probs.numpy(),
        np.array([card.class_names.index(known.classes[f]) for f in files]),
        card.class_names,
        _patients(files, known),
        _chosen(columns, by, f"'{table}'"),
    )
    if not outcome.finite:
        raise DataError(
            f"'{model}' gives probabilities that are no numbers; its training "
            "diverged, so train it again with smaller steps",
            code="FS3513",
        )
    return Evaluation(facts_of(outcome), tuple(faults))


def _known(table: Path, card: ModelCard) -> tuple[Path, Known]:
    """Find the pictures and their classes."""
    settings = SitesSettings([str(table)], list(card.class_names))
    if table.is_dir():
        return table, known_labels(
            table, table.resolve().name, settings, pictures(table)
        )
    folder, name = table.parent, table.name
    try:
        content = read_regular(folder, name)
    except Refused as error:
        raise DataError(f"'{table}' {error}", code=error.code) from None
    found = read_table(content, name, card.class_names)
    labeled = {file: label for file, label in found.labels.items() if label is not None}
    return folder, Known(labeled, found.groups, found.columns, tuple(found.left_out))


def _answers(
    run: Model, card: ModelCard, folder: Path, files: Sequence[str], faults: list[str]
) -> tuple[list[str], Tensor]:
    """Ask the model about all pictures that can be read; note the others."""
    read, found = list[str](), [torch.empty(0, len(card.class_names))]
    for start in range(0, len(files), _BATCH):
        images = {}
        for name in files[start : start + _BATCH]:
            try:
                images[name] = read_picture(folder, name, card)
            except Refused as error:
                faults.append(f"{error.code} '{folder / name}' {error}")
        if images:
            with torch.inference_mode():
                found.append(run(torch.cat(list(images.values()))).float())
            read += images
    return read, torch.cat(found)


def _patients(files: Sequence[str], known: Known) -> np.ndarray | None:
    """Number the patients; None if the table names none."""
    if not any(file in known.groups for file in files):
        return None
    owners = [known.groups.get(file, f"file {file}") for file in files]
    return np.unique(owners, return_inverse=True)[1]


def _check_names(columns: Iterable[str], by: Sequence[str], where: str) -> None:
    for name in by:
        if name not in columns:
            known = f"those are {', '.join(columns)}" if columns else "there are none"
            hint = nearest(name, columns)
            raise ConfigError(
                f"--by: {where} has no column '{name}'{hint}; {known}",
                code="FS3512",
            )


def _chosen(
    columns: Mapping[str, tuple[str, ...]], by: Sequence[str], where: str
) -> dict[str, tuple[str, ...]]:
    """Return the columns that were asked for, or else all that name kinds."""
    _check_names(columns, by, where)
    for name in by:
        kinds = len(set(banded(columns[name])))
        if kinds > MOST_SUBGROUPS:
            raise ConfigError(
                f"--by: the column '{name}' of {where} has {kinds} different words; "
                f"give one that divides pictures into {MOST_SUBGROUPS} kinds at most",
                code="FS3512",
            )
    return {name: columns[name] for name in by or columns}
