"""Use a trained model on a folder of pictures."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator
from pathlib import Path

import torch
from torch import Tensor

from fedsemi.data.augment import resize
from fedsemi.data.decode import PICTURES, SCANS, decode, is_image
from fedsemi.data.safe_files import Refused, read_regular
from fedsemi.errors import DataError, StorageError
from fedsemi.exports import CARD, load_model
from fedsemi.model_card import ModelCard

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


def predictions(model: Path, folder: Path) -> Iterator[tuple[str, str, float]]:
    """Yield file, class and probability for every picture in a folder."""
    run, card = open_model(model)
    names = pictures(folder)
    for start in range(0, len(names), _BATCH):
        some = names[start : start + _BATCH]
        images = torch.cat([read_picture(folder, name, card) for name in some])
        with torch.inference_mode():
            probability, label = run(images).max(1)
        for name, p, c in zip(some, probability.tolist(), label.tolist(), strict=True):
            yield name, card.class_names[c], p


def as_csv(model: Path, folder: Path) -> str:
    """Write predictions as CSV: file, class, probability."""
    text = io.StringIO(newline="")
    writer = csv.writer(text)
    writer.writerow(["file", "class", "probability"])
    writer.writerows([f, c, f"{p:.6f}"] for f, c, p in predictions(model, folder))
    return text.getvalue()


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
    """
    try:
        array = decode(name, read_regular(folder, name), card.pixels).array
    except Refused as error:
        raise DataError(f"'{folder / name}' {error}", error.code) from None
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
