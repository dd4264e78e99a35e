"""Views whose features were computed once: what stands for pictures are their names.

A frozen encoder makes the same of the same view, so a site keeps what it made of the
clean view and of some weak and strong views of each picture. These are drawn from the
picture's own stream of chance, the same in all runs; a run draws among them. A picture
that was changed has another name, and other views or another encoder have another
folder: nothing stale is ever found.
"""

from __future__ import annotations

import hashlib
import json
import math
import threading
import weakref
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch
from torch import Tensor

from fedsemi.data.augment import Views
from fedsemi.errors import ConfigError
from fedsemi.models import MODELS, ModelSpec
from fedsemi.models.precision import Precision, computing
from fedsemi.models.pretrained import PretrainedEncoder
from fedsemi.objectives.feature_files import (
    NAME_BYTES,
    SUFFIX,
    Damaged,
    FeatureFile,
    Halves,
    make_room,
    open_features,
    write_features,
)
from fedsemi.seeds import seed_of
from fedsemi.storage import remove

Kind = Literal["clean", "weak", "strong"]
Shown = tuple[Kind, int]
"""A kind of view, and which of the kept ones."""

_BATCH = 64
"""Always of this size, for a picture's features must not depend on its company."""
_PART = 4096
"""Pictures of one file: bounds the memory while it is made."""


@dataclass(frozen=True)
class Encoding:
    """All that decides which features a view has."""

    model: ModelSpec
    views: Views
    precision: Precision
    device: str

    @property
    def sha256(self) -> str:
        """Name it by its content."""
        # By the file's name, wherever it lies; its hash says which one it is.
        spec = self.model.for_others().as_dict()
        kept = ("sha256", "weights", "trained_blocks", "mean", "std")
        spec["encoder"] = {key: spec["encoder"][key] for key in kept}
        del spec["num_classes"]
        identity = MODELS.identity(self.model.name)
        content = {
            "model": spec,
            "code": None if identity is None else identity.sha256,
            "views": asdict(self.views),
            "precision": self.precision,
            "device": self.device,
            "torch": str(torch.__version__),
            "cpu": torch.backends.cpu.get_cpu_capability(),
        }
        text = json.dumps(content, sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()


class FeatureStore:
    """The features of a process's pictures, in memory maps.

    Args:
        encoding: Which features.
        folder: Where their files lie, with those of other encoders.
    """

    def __init__(self, encoding: Encoding, folder: Path) -> None:
        encoder = encoding.model.encoder
        assert encoder is not None
        self.num_views = encoder.cached_views
        self._most = encoder.cache_gb * 1e9
        self._encoding = encoding
        self._folder, self._space = folder, folder / encoding.sha256[:32]
        self._files: dict[Path, FeatureFile] = {}
        self._places: dict[Shown, dict[bytes, tuple[FeatureFile, int]]] = {}
        self._pictures: dict[bytes, tuple[Tensor, list[bytes]]] = {}
        self._named: dict[int, tuple[weakref.ref[Tensor], Tensor]] = {}
        self._one_at_a_time = threading.RLock()

    def names(self, images: Tensor) -> Tensor:
        """Name pictures by their pixels, int64 [N, 2], and note where they are."""
        with self._one_at_a_time:
            earlier = self._named.get(id(images))
            if earlier is not None and earlier[0]() is images:
                return earlier[1]
            names = [_name(picture) for picture in images]
            if any(name not in self._pictures for name in names):
                self._pictures |= dict.fromkeys(names, (images, names))
            found = _packed(names)
            self._named = {k: v for k, v in self._named.items() if v[0]() is not None}
            self._named[id(images)] = weakref.ref(images), found
            return found

    def rows(self, kind: Kind, names: Tensor, view: Tensor | None = None) -> Tensor:
        """Return the features of pictures, float32 [B, D]; compute what is missing.

        Args:
            kind: Of view.
            names: What `names` returned, or rows of it.
            view: Which of the kept views of each picture, [B]; the first if left out.
        """
        wanted = _unpacked(names)
        chosen = [0] * len(wanted) if view is None else view.tolist()
        found = np.empty((len(wanted), self._size), dtype=np.float16)
        for each in set(chosen):
            here = [row for row, one in enumerate(chosen) if one == each]
            found[here] = self._read((kind, each), [wanted[row] for row in here])
        return torch.from_numpy(found).float().to(names.device)

    @property
    def _size(self) -> int:
        return math.prod(self._encoder.shape)

    def _read(self, shown: Shown, wanted: list[bytes]) -> Halves:
        known = self._places.setdefault(shown, {})
        if any(name not in known for name in wanted):
            with self._one_at_a_time:
                self._look(shown)
                for name in wanted:
                    if name not in known:
                        self._fill(shown, *self._pictures[name])
        places = [known[name] for name in wanted]
        files = {id(file): file for file, _ in places}
        found = np.empty((len(wanted), self._size), dtype=np.float16)
        for number, file in files.items():
            here = [at for at, (each, _) in enumerate(places) if id(each) == number]
            found[here] = file.features[[places[at][1] for at in here]]
        return found

    def _look(self, shown: Shown) -> None:
        """Open what lies in the folder, perhaps by another process, and is whole."""
        for path in sorted(self._space.glob(f"{_word(shown)}-*{SUFFIX}")):
            if path in self._files:
                continue
            try:
                self._add(shown, open_features(path))
            except Damaged:
                remove(path)

    def _add(self, shown: Shown, file: FeatureFile) -> None:
        self._files[file.path] = file
        for row, name in enumerate(file.names):
            self._places[shown].setdefault(name, (file, row))

    def _fill(self, shown: Shown, images: Tensor, names: list[bytes]) -> None:
        """Compute what is missing of these pictures, and keep it."""
        known = self._places[shown]
        missing = {name: row for row, name in enumerate(names) if name not in known}
        rows = list(missing.values())
        for start in range(0, len(rows), _PART):
            part = rows[start : start + _PART]
            told = [names[row] for row in part]
            make_room(self._folder, 2 * len(part) * self._size, self._most, self._files)
            features = self._computed(shown, images[part], told)
            digest = hashlib.sha256(b"".join(told)).hexdigest()[:16]
            path = self._space / f"{_word(shown)}-{digest}{SUFFIX}"
            write_features(path, told, features)
            self._add(shown, open_features(path))

    @torch.inference_mode()
    def _computed(self, shown: Shown, images: Tensor, names: list[bytes]) -> Halves:
        encoding, device = self._encoding, torch.device(self._encoding.device)
        found = np.empty((len(images), self._size), dtype=np.float16)
        for start in range(0, len(images), _BATCH):
            rows = range(start, min(start + _BATCH, len(images)))
            views = torch.cat(
                [self._view(shown, images[row : row + 1], names[row]) for row in rows]
            )
            batch = views.new_zeros(_BATCH, *views.shape[1:])
            batch = batch.contiguous(memory_format=torch.channels_last)
            batch[: len(rows)] = views
            with computing(encoding.precision, device.type):
                made = self._encoder.rows(batch.to(device))[: len(rows)]
            found[start : start + len(rows)] = made.half().cpu().numpy()
        if not np.isfinite(found).all():
            raise ConfigError(
                "the encoder makes numbers beyond 65,504, which kept features cannot "
                "hold; set model.encoder.cached_views = 0",
                code="FS4195",
            )
        return found

    def _view(self, shown: Shown, picture: Tensor, name: bytes) -> Tensor:
        """Draw one view of one picture, from a stream that is its own."""
        views, (kind, number) = self._encoding.views, shown
        if kind == "clean":
            return views.clean(picture)
        draw = torch.Generator()
        draw.manual_seed(seed_of("cached view", kind, number, name.hex()))
        return (views.weak if kind == "weak" else views.strong)(picture, draw)

    @property
    def _encoder(self) -> PretrainedEncoder:
        encoder = _empty(self._encoding.model)
        assert isinstance(encoder, PretrainedEncoder)
        return encoder


@dataclass(frozen=True)
class CachedViews:
    """Views of pictures, or features where names of pictures are given."""

    views: Views
    store: FeatureStore

    def clean(self, images: Tensor) -> Tensor:
        """Return the clean view."""
        if not _are_names(images):
            return self.views.clean(images)
        return self.store.rows("clean", images)

    def weak(self, images: Tensor, generator: torch.Generator) -> Tensor:
        """Draw one of the kept weak views of each picture."""
        if not _are_names(images):
            return self.views.weak(images, generator)
        return self._one("weak", images, generator)

    def strong(self, images: Tensor, generator: torch.Generator) -> Tensor:
        """Draw one of the kept strong views of each picture."""
        if not _are_names(images):
            return self.views.strong(images, generator)
        return self._one("strong", images, generator)

    def _one(self, kind: Kind, names: Tensor, generator: torch.Generator) -> Tensor:
        view = torch.randint(self.store.num_views, (len(names),), generator=generator)
        return self.store.rows(kind, names, view)


@lru_cache(maxsize=4)
def store_of(encoding: Encoding, folder: Path) -> FeatureStore:
    """Return the one store of this process."""
    return FeatureStore(encoding, folder)


@lru_cache(maxsize=4)
def _empty(model: ModelSpec) -> Any:
    return model.empty().encoder


def _word(shown: Shown) -> str:
    return f"{shown[0]}{shown[1]}"


def _are_names(images: Tensor) -> bool:
    return images.dtype == torch.int64


def _name(picture: Tensor) -> bytes:
    pixels = picture.cpu().contiguous().numpy()
    shape = str(tuple(pixels.shape)).encode()
    return hashlib.blake2b(
        pixels.tobytes(), digest_size=NAME_BYTES, person=shape[:16]
    ).digest()


def _packed(names: list[bytes]) -> Tensor:
    joined = np.frombuffer(b"".join(names), dtype=np.int64)
    return torch.from_numpy(joined.copy()).view(-1, 2)


def _unpacked(names: Tensor) -> list[bytes]:
    joined = names.cpu().contiguous().numpy().tobytes()
    return [joined[at : at + NAME_BYTES] for at in range(0, len(joined), NAME_BYTES)]
