import io
import resource
import zlib
from typing import Any

import numpy as np
import pytest
from PIL import Image

from fedsemi.data.decode import Pixels, decode, probe
from fedsemi.data.safe_files import Refused

COLOR = Pixels(side=2, channels=3, background=(10, 20, 30), deep_range=(0, 4095))


def encoded(image: Image.Image, kind: str = "PNG", **options: object) -> bytes:
    file = io.BytesIO()
    image.save(file, kind, **options)
    return file.getvalue()


def pixel(content: bytes, pixels: Pixels = COLOR, name: str = "x.png") -> list[int]:
    return decode(name, content, pixels).array[:, 0, 0].tolist()


def flat(mode: str, color: object) -> Image.Image:
    return Image.new(mode, (2, 2), color)  # type: ignore[arg-type]


def deep(value: int, dtype: str = "uint16") -> Image.Image:
    return Image.fromarray(np.full((2, 2), value, dtype))


def palette(transparent: bool) -> bytes:
    image = Image.new("P", (2, 2), 1)
    image.putpalette([0, 0, 0, 200, 100, 50])
    return encoded(image, transparency=1) if transparent else encoded(image)


GOLDEN = {
    "one bit": (encoded(flat("1", 1)), [255, 255, 255]),
    "gray": (encoded(flat("L", 77)), [77, 77, 77]),
    "color": (encoded(flat("RGB", (1, 2, 3))), [1, 2, 3]),
    # Half of 200 on half of the background 10: 105, and so on.
    "half transparent": (encoded(flat("RGBA", (200, 100, 50, 128))), [105, 60, 40]),
    "hidden color": (encoded(flat("RGBA", (255, 0, 0, 0))), [10, 20, 30]),
    "gray with alpha": (encoded(flat("LA", (255, 0))), [10, 20, 30]),
    "palette": (palette(False), [200, 100, 50]),
    "transparent palette": (palette(True), [10, 20, 30]),
    # 2048 / 4095 * 255 = 127.53
    "16 bit png": (encoded(deep(2048)), [128, 128, 128]),
    "16 bit tiff": (encoded(deep(4095), "TIFF"), [255, 255, 255]),
    "beyond the range": (encoded(deep(60_000)), [255, 255, 255]),
    "32 bit": (encoded(deep(1024, "int32"), "TIFF"), [64, 64, 64]),
    # (255 - 55) * (255 - 0) / 255 = 200 for red, and so on.
    "CMYK": (encoded(flat("CMYK", (55, 155, 205, 0)), "TIFF"), [200, 100, 50]),
    "float": (encoded(deep(2048, "float32"), "TIFF"), [128, 128, 128]),
}


@pytest.mark.parametrize("mode", GOLDEN)
def test_golden_pixels(mode: str, promise: Any) -> None:
    content, expected = GOLDEN[mode]
    found = pixel(content)
    promise("IN-10 golden pixels of modes and depths", 1, int(found != expected))
    assert found == expected


def test_camera_rotation_is_applied() -> None:
    image = Image.new("L", (2, 2), 0)
    image.putpixel((0, 0), 255)
    exif = Image.Exif()
    exif[0x0112] = 6  # turn by 90 degrees clockwise: top left comes to top right
    array = decode("x.png", encoded(image, exif=exif), Pixels(2, 1)).array
    assert array.tolist() == [[[0, 255], [0, 0]]]


def test_sixteen_bits_without_a_declared_range_are_refused_with_the_largest() -> None:
    with pytest.raises(Refused, match="values up to 3000; set sites") as error:
        pixel(encoded(deep(3000)), Pixels(2))
    assert error.value.code == "FS3104"
    assert probe("x.png", encoded(deep(3000)))[2] == 3000


def test_gray_federation_makes_one_channel() -> None:
    # ITU-R 601: 0.299 * 100 + 0.587 * 200 + 0.114 * 50 = 153
    assert pixel(encoded(flat("RGB", (100, 200, 50))), Pixels(2, 1)) == [153]


@pytest.mark.parametrize("kind", ["PNG", "TIFF", "BMP", "GIF", "WEBP"])
def test_common_formats_are_read(kind: str) -> None:
    options = {"lossless": True} if kind == "WEBP" else {}
    content = io.BytesIO()
    flat("RGB", (250, 0, 0)).save(content, kind, **options)
    assert pixel(content.getvalue(), Pixels(2)) == [250, 0, 0]


def test_other_formats_are_not_opened() -> None:
    for kind in ("PPM", "TGA"):
        with pytest.raises(Refused, match="not a PNG, JPEG, TIFF, BMP, GIF or WebP"):
            pixel(encoded(flat("L", 0), kind))


def test_a_picture_that_moves_is_refused_not_cut_to_its_first_frame() -> None:
    content = io.BytesIO()
    frames = [flat("L", value) for value in (0, 90, 200)]
    frames[0].save(content, "GIF", save_all=True, append_images=frames[1:])
    with pytest.raises(Refused, match="moves"):
        pixel(content.getvalue())


def test_every_truncation_is_noticed() -> None:
    noise = np.random.default_rng(0).integers(0, 256, (16, 16, 3), dtype=np.uint8)
    for kind in ("PNG", "JPEG"):
        content = encoded(Image.fromarray(noise), kind)
        for end in range(0, len(content) - 12, 40):
            with pytest.raises(Refused):
                pixel(content[:end])


IN9 = "IN-9 bombs refused, less than 200 MB more"


def bomb(width: int, height: int) -> bytes:
    """Make a PNG whose header promises more than its few bytes show."""

    def chunk(kind: bytes, body: bytes) -> bytes:
        sum_ = zlib.crc32(kind + body).to_bytes(4, "big")
        return len(body).to_bytes(4, "big") + kind + body + sum_

    size = width.to_bytes(4, "big") + height.to_bytes(4, "big")
    rows = zlib.compress(bytes(100_000))
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", size + b"\x08\x00\x00\x00\x00")
        + chunk(b"IDAT", rows)
        + chunk(b"IEND", b"")
    )


@pytest.mark.parametrize("side", [6400, 9000, 9500, 14_000, 60_000])
def test_bombs_are_refused_before_they_unpack(side: int, promise: Any) -> None:
    with pytest.raises(Refused, match="40 million pixels") as error:
        pixel(bomb(side, side))
    promise(IN9, 1, error.value.code != "FS3103")
    assert error.value.code == "FS3103"


@pytest.mark.slow
def test_twenty_real_bombs_need_no_memory(promise: Any) -> None:
    content = encoded(Image.new("L", (9000, 9000)))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _ in range(20):
        with pytest.raises(Refused):
            pixel(content)
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    failed = int(after - before >= 200 * 1024)
    promise(IN9, 20, failed)
    assert not failed
