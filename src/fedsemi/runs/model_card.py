"""What has to travel with a model so that somebody else can use it."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from fedsemi.config.blueprint import Blueprint
from fedsemi.data.augment import Views
from fedsemi.data.decode import Pixels
from fedsemi.errors import StorageError
from fedsemi.models import ModelSpec
from fedsemi.storage import write_whole
from fedsemi.text.json_text import parsed

FILE = "model.json"


@dataclass(frozen=True)
class ModelCard:
    """The network's recipe, its classes, and how images become its input."""

    spec: ModelSpec
    class_names: tuple[str, ...]
    views: Views
    pixels: Pixels
    """How pictures become pixels: as those that the model has learned from."""
    about: tuple[tuple[str, str], ...] = ()
    """What people should know of the model, a title and a text each; only an exported
    one, which leaves its run behind, brings it along."""

    @classmethod
    def of(cls, blueprint: Blueprint) -> ModelCard:
        """Describe the model that an experiment trains."""
        views, sites = blueprint.views, blueprint.experiment.sites
        pixels = sites.pixels(views.pre) if sites else Pixels(0, len(views.mean))
        return cls(blueprint.model, blueprint.class_names, views, pixels)

    def as_json(self) -> str:
        """Write the card as text."""
        return json.dumps(asdict(self) | {"spec": self.spec.as_dict()}, indent=2) + "\n"

    @classmethod
    def from_json(cls, text: str | bytes, source: Path) -> ModelCard:
        """Read what `as_json` wrote."""
        try:
            content = parsed(text)
            views: dict[str, Any] = content["views"]
            mean, std = tuple(views["mean"]), tuple(views["std"])
            return cls(
                ModelSpec.from_dict(content["spec"]),
                tuple(content["class_names"]),
                Views(**(views | {"mean": mean, "std": std})),
                _pixels(content.get("pixels", {}), len(mean)),
                tuple((title, text) for title, text in content.get("about", ())),
            )
        except (ValueError, KeyError, TypeError) as error:
            raise StorageError(
                f"the model card in '{source}' cannot be read ({error}); train or "
                "export the model again",
                code="FS1111",
            ) from None


def _pixels(content: dict[str, Any], channels: int) -> Pixels:
    plain = Pixels(0, channels)  # cards of earlier versions do not say
    limits = content.get("deep_range") and tuple(content["deep_range"])
    return Pixels(
        content.get("side", plain.side),
        content.get("channels", plain.channels),
        tuple(content.get("background", plain.background)),
        limits,
    )


def write_card(folder: Path, blueprint: Blueprint) -> None:
    """Put the card beside the model."""
    write_whole(folder / FILE, ModelCard.of(blueprint).as_json().encode())


def read_card(folder: Path) -> ModelCard:
    """Read the card that lies beside a model."""
    path = folder / FILE
    try:
        return ModelCard.from_json(path.read_bytes(), path)
    except OSError:
        raise StorageError(
            f"there is no '{path}', so nobody knows the model's classes and image "
            "size; give the folder of a run",
            code="FS1111",
        ) from None
