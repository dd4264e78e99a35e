"""Rank the unlabeled pictures of a site's folder with the model of a run."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch

from fedsemi.asking.pool import BATCH, Said, joined, said
from fedsemi.asking.queue import Asked, Queue, read_queue
from fedsemi.asking.rules import COVERAGE, RULES, Pool
from fedsemi.asking.shelf import Shelf
from fedsemi.config.pixel_settings import changed_pixels
from fedsemi.data.safe_files import Refused
from fedsemi.errors import ConfigError, DataError
from fedsemi.runs.folder import MODEL
from fedsemi.runs.model_card import ModelCard
from fedsemi.use.deployed import Deployed
from fedsemi.use.predict import Model, open_model, read_picture

SEED = 1
"""Of the random order, the same for all: what it shows must not be tried for."""


@dataclass(frozen=True, eq=False)
class Asker:
    """A model, and how pictures become its input."""

    model: Model
    card: ModelCard
    sha256: str
    """Of the model's file."""

    def queue(
        self, shelf: Shelf, rule: str, budget: int
    ) -> tuple[Queue, tuple[str, ...]]:
        """Return so many pictures to ask about, and what could not be read, and why.

        What was asked before with the same model and rule stays, in its order; what
        got a label or was skipped counts as asked.

        Raises:
            ConfigError: The rule needs features, and the model shows none.
            DataError: There is nothing to ask about.
        """
        if rule == COVERAGE and not isinstance(self.model, Deployed):
            raise ConfigError(
                "an exported model shows no features, by which coverage goes; give "
                "the folder of the run, or take another rule with --by",
                code="FS6403",
            )
        old = read_queue(shelf.folder, self.sha256, rule)
        bare, labels = shelf.pictures()
        there = {*bare, *labels}
        asked = [each for each in old.asked if each.file in there][:budget]
        named = {each.file for each in asked}
        rest = [file for file in bare if file not in named]
        # What is asked already is as good as labeled for what comes next.
        near = [*labels, *(file for file in named if file not in labels)]
        missing, left_out = budget - len(asked), tuple[str, ...]()
        if missing and rest:
            files, pool, left_out = self._pool(shelf, rule, rest, labels, sorted(near))
            asked += _ranked(files, pool, rule, missing, shelf.classes)
        if not asked:
            raise DataError(_nothing(shelf, left_out), code="FS6406")
        return replace(old, asked=tuple(asked)), left_out

    def _pool(
        self,
        shelf: Shelf,
        rule: str,
        rest: Sequence[str],
        labels: Mapping[str, str],
        near: Sequence[str],
    ) -> tuple[list[str], Pool, tuple[str, ...]]:
        files, (probs, features), left_out = self._look(shelf, rest)
        known = np.empty((0, features.shape[1]))
        if rule == COVERAGE:
            known = self._look(shelf, near)[1][1].reshape(-1, features.shape[1])
        numbers = [shelf.classes.index(label) for label in labels.values()]
        counts = np.bincount(
            np.array(numbers, dtype=np.int64), minlength=len(shelf.classes)
        )
        return files, Pool(probs, features, counts, known, SEED), tuple(left_out)

    def _look(
        self, shelf: Shelf, files: Sequence[str]
    ) -> tuple[list[str], Said, list[str]]:
        """Let the model look at pictures, some at a time, as many as can be read."""
        seen, left_out = list[str](), list[str]()
        parts: list[Said] = []
        for start in range(0, len(files), BATCH):
            images = {}
            for file in files[start : start + BATCH]:
                try:
                    images[file] = read_picture(shelf.folder, file, self.card)
                except Refused as error:
                    left_out.append(f"{error.code} '{shelf.folder / file}' {error}")
            if images:
                parts.append(said(self.model, torch.cat(list(images.values()))))
                seen += images
        nothing = np.empty((0, len(shelf.classes))), np.empty((0, 0))
        return seen, joined(parts) if parts else nothing, left_out


def open_asker(run: Path, overrides: Sequence[str] = ()) -> Asker:
    """Open the model of a run, or an exported one.

    Args:
        run: The folder of a run, or an exported model.
        overrides: As `fedsemi predict` takes them, for pictures of another kind.
    """
    model, card = open_model(run)
    card = replace(card, pixels=changed_pixels(card.pixels, overrides))
    file = run / MODEL if run.is_dir() else run
    return Asker(model, card, hashlib.sha256(file.read_bytes()).hexdigest())


def _ranked(
    files: Sequence[str], pool: Pool, rule: str, number: int, classes: Sequence[str]
) -> list[Asked]:
    rows = RULES[rule](pool, number) if files else []
    best = [(row, int(pool.probabilities[row].argmax())) for row in rows]
    return [
        Asked(files[row], classes[k], round(float(pool.probabilities[row, k]), 6))
        for row, k in best
    ]


def _nothing(shelf: Shelf, left_out: Sequence[str]) -> str:
    if left_out:
        return f"no unlabeled picture can be read; first: {left_out[0]}"
    return f"'{shelf.folder}' has no picture without a label: there is nothing to ask"
