import io

import numpy as np
import pytest
from PIL import Image

from fedsemi.data.readers.compact import read_compact
from fedsemi.errors import DataError


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path / "home"))


def pack(path, images, columns=2, **fields):
    """Write images as lossless WebP columns, as the compact files have them."""
    blobs = []
    for part in np.array_split(images, columns):
        blob = io.BytesIO()
        column = Image.fromarray(part.reshape(-1, *images.shape[2:]))
        column.save(blob, "WEBP", lossless=True)
        blobs.append(blob.getvalue())
    offsets = np.cumsum([0, *(len(blob) for blob in blobs)])
    webp = np.frombuffer(b"".join(blobs), dtype=np.uint8)
    np.savez(path, webp=webp, offsets=offsets, shape=images.shape, **fields)


@pytest.mark.parametrize("shape", [(7, 5, 5, 3), (7, 5, 5)])
def test_images_come_back_without_loss(tmp_path, shape):
    images = np.random.default_rng(0).integers(256, size=shape, dtype=np.uint8)
    pack(tmp_path / "a.npz", images, label=np.arange(7, dtype=np.uint8), n_train=5)
    content = read_compact(tmp_path / "a.npz")
    expected = images.transpose(0, 3, 1, 2) if len(shape) == 4 else images[:, None]
    assert np.array_equal(content.images, expected)
    assert content.labels.tolist() == list(range(7))
    assert [len(part) for part in content.parts()] == [5, len(images) - 5]


def test_files_that_do_not_add_up_are_refused(tmp_path):
    images = np.zeros((4, 5, 5, 3), dtype=np.uint8)
    pack(tmp_path / "labels.npz", images, label=np.arange(3), n_train=2)
    pack(tmp_path / "fields.npz", images)
    np.savez(tmp_path / "other.npz", x=np.arange(3))
    (tmp_path / "text.npz").write_text("hello")
    for name in ("labels", "fields", "other", "text"):
        with pytest.raises(DataError, match=rf"FS3004 .*{name}\.npz cannot be read"):
            read_compact(tmp_path / f"{name}.npz")
