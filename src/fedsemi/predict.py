"""Use a trained model on a folder of pictures."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import torch
from PIL import Image
from torch import Tensor

from fedsemi.data.augment import resize
from fedsemi.errors import DataError, StorageError
from fedsemi.exports import CARD, load_model
from fedsemi.model_card import ModelCard

SUFFIXES = (".png", ".jpg", ".jpeg")
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
    """Yield file, class and probability for every PNG and JPEG in a folder."""
    run, card = open_model(model)
    paths = pictures(folder)
    for start in range(0, len(paths), _BATCH):
        some = paths[start : start + _BATCH]
        images = torch.cat([read_picture(path, card) for path in some])
        with torch.inference_mode():
            probability, label = run(images).max(1)
        for path, p, c in zip(some, probability.tolist(), label.tolist(), strict=True):
            yield str(path.relative_to(folder)), card.class_names[c], p


def as_csv(model: Path, folder: Path) -> str:
    """Write predictions as CSV: file, class, probability."""
    text = io.StringIO(newline="")
    writer = csv.writer(text)
    writer.writerow(["file", "class", "probability"])
    writer.writerows([f, c, f"{p:.6f}"] for f, c, p in predictions(model, folder))
    return text.getvalue()


def pictures(folder: Path) -> list[Path]:
    """List the pictures in a folder and below it, by name."""
    if not folder.is_dir():
        raise DataError(f"there is no folder '{folder}'", "FS3001")
    found = sorted(p for p in folder.rglob("*") if p.suffix.lower() in SUFFIXES)
    if not found:
        raise DataError(f"'{folder}' has no {', '.join(SUFFIXES)} files", "FS3001")
    return found


def read_picture(path: Path, card: ModelCard) -> Tensor:
    """Read a picture as the network wants it, uint8 [1, channels, size, size]."""
    mode = "L" if len(card.views.mean) == 1 else "RGB"
    try:
        with Image.open(path, formats=["PNG", "JPEG"]) as image:
            pixels = np.array(image.convert(mode))
    except (OSError, ValueError, Image.DecompressionBombError) as error:
        raise DataError(f"'{path}' cannot be read: {error}", "FS3004") from None
    planes = torch.from_numpy(pixels.reshape(*pixels.shape[:2], -1)).permute(2, 0, 1)
    return resize(planes[None].contiguous(), card.views.size)


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
