"""Use a trained model on a folder of pictures."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import torch
from torch import Tensor

from fedsemi.config.pixel_settings import changed_pixels
from fedsemi.data.augment import resize
from fedsemi.data.decode import PICTURES, SCANS, decode, is_image
from fedsemi.data.safe_files import Refused, read_regular
from fedsemi.errors import DataError, StorageError
from fedsemi.runs.model_card import ModelCard
from fedsemi.text.printable import printable
from fedsemi.use.deployed import CARD, load_model

_BATCH = 64

Model = Callable[[Tensor], Tensor]
"""uint8 images [N, channels, size, size] to probabilities [N, C]."""


def open_model(path: Path) -> tuple[Model, ModelCard]:
    """Open the folder of a run, or what `fedsemi export` made of it."""
    if path.is_dir():
        return load_model(path)
    if not path.is_file():
        raise StorageError(
            f"there is no model '{path}'; give the folder of a run, or an exported "
            ".onnx or .pt2 file",
            code="FS1110",
        )
    if path.suffix == ".onnx":
        return _open_onnx(path)
    if path.suffix == ".pt2":
        return _open_torch(path)
    raise StorageError(
        f"'{path}' is no model that fedsemi can use; give the folder of a run, or an "
        "exported .onnx or .pt2 file",
        code="FS1110",
    )


@dataclass(frozen=True)
class Predictions:
    """What a model takes pictures for."""

    rows: tuple[tuple[str, str, float], ...]
    """File, class and probability."""
    left_out: tuple[str, ...]
    """Files that cannot be read, and why."""

    def as_csv(self) -> bytes:
        """Write the rows as CSV: file, class, probability; names keep their bytes."""
        text = io.StringIO(newline="")
        writer = csv.writer(text)
        writer.writerow(["file", "class", "probability"])
        writer.writerows([file, name, f"{p:.6f}"] for file, name, p in self.rows)
        return text.getvalue().encode("utf-8", "surrogateescape")

    def shown(self) -> Predictions:
        """Return the same for a person's eyes."""
        rows = ((printable(file), printable(name), p) for file, name, p in self.rows)
        return Predictions(tuple(rows), self.left_out)


def predictions(
    model: Path, folder: Path, overrides: Sequence[str] = ()
) -> Predictions:
    """Classify every picture in a folder that can be read.

    Args:
        model: The folder of a run, or an exported model.
        folder: Of pictures.
        overrides: `sites.sixteen_bit_range=[low,high]` or `sites.background=[r,g,b]`,
            where these pictures need others than those that the model learned from.

    Raises:
        DataError: There is none.
    """
    run, card = open_model(model)
    card = replace(card, pixels=changed_pixels(card.pixels, overrides))
    names, rows, left_out = pictures(folder), [], list[str]()
    for start in range(0, len(names), _BATCH):
        images = {}
        for name in names[start : start + _BATCH]:
            try:
                images[name] = read_picture(folder, name, card)
            except Refused as error:
                left_out.append(f"{error.code} '{folder / name}' {error}")
        if images:
            with torch.inference_mode():
                best = run(torch.cat(list(images.values()))).max(1)
            labels = [card.class_names[label] for label in best.indices.tolist()]
            rows += list(zip(images, labels, best.values.tolist(), strict=True))
    if not rows:
        raise DataError(f"no picture of '{folder}' can be read: {left_out[0]}")
    return Predictions(tuple(rows), tuple(left_out))


def pictures(folder: Path) -> list[str]:
    """List the pictures in a folder and below it, by name."""
    if not folder.is_dir():
        raise DataError(f"there is no folder '{folder}'", "FS3001")
    found = [path.relative_to(folder) for path in folder.rglob("*")]
    names = sorted(str(path) for path in found if is_image(path.name))
    if not names:
        raise DataError(
            f"'{folder}' has no {', '.join(PICTURES + SCANS)} files", "FS3001"
        )
    return names


def read_picture(folder: Path, name: str, card: ModelCard) -> Tensor:
    """Read a picture as those were read that the model learned from.

    Returns:
        uint8 [1, channels, size, size].

    Raises:
        Refused: It is damaged, too large, or of a mode that needs a setting.
    """
    array = decode(name, read_regular(folder, name), card.pixels).array
    return resize(torch.from_numpy(array.copy())[None], card.views.size)


def _open_torch(path: Path) -> tuple[Model, ModelCard]:
    extra = {CARD: ""}
    try:
        program = torch.export.load(path, extra_files=extra)
    except Exception as error:  # torch raises whatever its parts raise
        raise StorageError(f"'{path}' is not a torch program: {error}") from None
    return program.module(), ModelCard.from_json(extra[CARD], path)


def _open_onnx(path: Path) -> tuple[Model, ModelCard]:
    try:
        import onnxruntime
    except ImportError:
        raise StorageError(
            "onnxruntime is not installed; `pip install 'fedsemi[export]'` adds it"
        ) from None
    try:
        session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    except Exception as error:  # onnxruntime has no public tree of errors
        raise StorageError(f"'{path}' is not an ONNX model: {error}") from None
    card = session.get_modelmeta().custom_metadata_map.get(CARD, "")

    def run(images: Tensor) -> Tensor:
        (probs,) = session.run(["probabilities"], {"images": images.numpy()})
        return torch.from_numpy(probs)

    return run, ModelCard.from_json(card, path)
