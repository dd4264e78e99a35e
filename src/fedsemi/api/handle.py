"""A run in a program's hands: its scores, its model, its report."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from fedsemi.api.display import display_for, screen
from fedsemi.api.sites import Sites
from fedsemi.api.tables import Table, table
from fedsemi.client.evaluate import SCORES
from fedsemi.config.experiment import Experiment
from fedsemi.data.arrays import as_images
from fedsemi.data.augment import resize
from fedsemi.errors import DataError
from fedsemi.models import Classifier
from fedsemi.report.build import report as build_report
from fedsemi.report.companion import sentence_of
from fedsemi.report.pictures import pictures_of
from fedsemi.report.run import read_run
from fedsemi.runs.model_card import ModelCard
from fedsemi.simulation.build import Simulation, build
from fedsemi.storage import make_folder, write_whole
from fedsemi.text.printable import printable
from fedsemi.text.screen import LINE
from fedsemi.use.deployed import Deployed, load_model
from fedsemi.use.exports import client_rows, round_rows
from fedsemi.use.labels_only import train_labels_only
from fedsemi.use.predict import predictions

_BATCH = 256


class Run:
    """A run: what `simulate`, `run`, `resume` and `load` return.

    All of it is in its folder; `fedsemi.load(run.folder)` gives the same object.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        """Where all of it is; see the README for the files."""
        self._content = read_run(folder)

    @property
    def config(self) -> Mapping[str, Any]:
        """All settings, those with defaults too."""
        return self._content.config

    @property
    def manifest(self) -> Mapping[str, Any]:
        """What made the run: seeds, versions, hashes of data and partition."""
        return self._content.manifest

    @property
    def finished(self) -> bool:
        """Whether all rounds were made; if not, `fedsemi.resume` goes on."""
        return self._content.finished

    @property
    def accuracy(self) -> float | None:
        """Accuracy of the last round that was tested, from 0 to 1; None before one."""
        rows = self._tested()
        return float(rows[-1]["accuracy"]) if rows else None

    @property
    def scores(self) -> Table:
        """A row for each test: stage, method, round and what was measured."""
        return table(self._tested())

    @property
    def contributions(self) -> Table:
        """A row for each round and client: what it had, did, and how it counted."""
        return table(client_rows(self._content))

    @property
    def alarms(self) -> Table:
        """A row for each warning of the run."""
        return table(asdict(alarm) for alarm in self._content.alarms)

    @property
    def class_names(self) -> tuple[str, ...]:
        """The classes, in the order of the model's outputs."""
        return self._card.class_names

    @cached_property
    def model(self) -> Classifier:
        """The model that the run ended with: a torch module in eval mode on the CPU.

        It takes what `prepare` makes of images and returns a feature and the logits
        of each of them.
        """
        return self._deployed[0].classifier.eval()

    def prepare(self, images: Any) -> Tensor:
        """Resize and normalize images, arrays or tensors, as the model wants them."""
        return self._card.views.clean(as_images(images))

    def probabilities(self, images: Any) -> Tensor:
        """Return the probability of each class for each image, `[N, C]`.

        Args:
            images: Arrays or tensors as `sites_from_arrays` takes them.
        """
        model, card = self._deployed
        found = [torch.empty(0, len(card.class_names))]
        with torch.inference_mode():
            for part in torch.split(self._pixels(images), _BATCH):
                found.append(model(part))
        return torch.cat(found)

    def predict(self, images: Any) -> Table:
        """Return what the model takes images for, and how sure it is.

        Args:
            images: Arrays or tensors as `sites_from_arrays` takes them, or the path of
                a folder of pictures.
        """
        if isinstance(images, str | PathLike):
            rows = predictions(self.folder, Path(images)).rows
            names = ("file", "class", "probability")
            return table(dict(zip(names, row, strict=True)) for row in rows)
        best = self.probabilities(images).max(1)
        pairs = zip(best.indices.tolist(), best.values.tolist(), strict=True)
        return table(
            {"label": label, "class": self.class_names[label], "probability": value}
            for label, value in pairs
        )

    def report(
        self,
        path: str | PathLike[str] = "report.html",
        pictures: bool | None = None,
        data_dir: str | PathLike[str] | None = None,
    ) -> Path:
        """Write a page about the run that opens without a network; return its path.

        Args:
            path: Of the page.
            pictures: Whether to show images of the data; None for data sets that
                anybody can get.
            data_dir: Where the data sets are, None for the usual folders.
        """
        target = Path(path)
        folder = None if data_dir is None else Path(data_dir)
        shown = pictures_of(self._content, pictures, folder)
        make_folder(target.parent)
        page = build_report([self._content], shown).encode()
        write_whole(target, page, private=bool(pictures))
        return target

    @property
    def helped(self) -> str | None:
        """Whether the unlabeled sites helped, by how much and how sure: a sentence.

        It compares with `train_labels_only`; None if no unlabeled site was to help.
        """
        return sentence_of(self._content)

    def train_labels_only(
        self,
        sites: Sites | None = None,
        *,
        workers: int = 0,
        progress: bool = True,
        data_dir: str | PathLike[str] | None = None,
    ) -> Run:
        """Train on the labels alone: same data, seed and rounds. Return that run.

        It begins where the warm-up ended, if that learned from labels in the same way.
        What was stopped goes on; what is there already is not trained again.

        Args:
            sites: The same sites again if they were made from arrays or a data set.
            workers: Worker processes; 0 for one per core. Changes no bit of a result.
            progress: Whether to show how far it is.
            data_dir: The folder of the data sets, instead of the usual ones.
        """

        def read(experiment: Experiment) -> Simulation:
            if sites is not None:
                return sites.simulation(experiment)
            return build(experiment, None if data_dir is None else Path(data_dir))

        console = screen(progress)
        remedy = "the same call goes on from there"
        display = display_for(console)
        return Run(
            train_labels_only(self.folder, read, workers, console, remedy, display)
        )

    def __repr__(self) -> str:
        stages = ", ".join(
            f"{stage['rounds']} {_rounds(stage['rounds'])} of {stage['method']}"
            for stage in self.config["stages"]
        )
        state = "" if self.finished else " (unfinished)"
        accuracy = self.accuracy
        found = "not tested yet" if accuracy is None else f"accuracy {accuracy:.2%}"
        return printable(f"<Run '{self.folder}'{state}: {stages}; {found}>", LINE)

    @property
    def _card(self) -> ModelCard:
        return self._deployed[1]

    @cached_property
    def _deployed(self) -> tuple[Deployed, ModelCard]:
        return load_model(self.folder)

    def _pixels(self, images: Any) -> Tensor:
        pixels, channels = as_images(images), len(self._card.views.mean)
        if pixels.shape[1] != channels:
            raise DataError(
                f"the images have {pixels.shape[1]} channels, the model takes "
                f"{channels}",
                code="FS3041",
            )
        return resize(pixels, self._card.views.size)

    def _tested(self) -> list[dict[str, Any]]:
        rows = round_rows(self._content)
        return [row for row in rows if row[SCORES[0]] is not None]


def _rounds(count: int) -> str:
    return "round" if count == 1 else "rounds"


def load(folder: str | PathLike[str]) -> Run:
    """Read the folder of a run, also of one that is going on or was stopped."""
    return Run(Path(folder))
