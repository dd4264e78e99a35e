"""One image file to bytes of a fixed size, for every mode that pictures come in.

What a decoder would do silently is decided here: 16-bit values are scaled by a declared
range (Pillow alone saturates them), transparency is laid on a declared background,
camera rotation is applied, and a size limit holds before anything is unpacked.
"""

from __future__ import annotations

import io
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from PIL import Image, ImageOps

from fedsemi.data.safe_files import Refused

Bytes = npt.NDArray[np.uint8]
Range = tuple[float, float]

PIXEL_LIMIT = 40_000_000
FORMATS = ("PNG", "JPEG", "TIFF", "BMP", "GIF", "WEBP")
PICTURES = (".png", ".jpg", ".jpeg", ".tif", ".tiff", ".bmp", ".gif", ".webp")
SCANS = (".dcm", ".nii", ".nii.gz")

# In every thread and for good: a warning filter of one thread holds for all of them.
warnings.filterwarnings("error", category=Image.DecompressionBombWarning)

_MOVING = ("GIF", "WEBP")
_DEEP = ("I;16", "I;16B", "I;16L", "I;16N", "I", "F")
_PLAIN = ("1", "L", "RGB", "CMYK", "YCbCr", "HSV", "RGBX")
_ALPHA = ("LA", "La", "PA", "RGBA", "RGBa")


@dataclass(frozen=True)
class Pixels:
    """How the pixels of a federation are to look; the same at all sites."""

    side: int
    """Height and width after resizing; 0 leaves pictures as large as they are."""
    channels: int = 3
    """1 for gray, 3 for color."""
    background: tuple[int, int, int] = (0, 0, 0)
    """What shows through where a picture is transparent."""
    deep_range: Range | None = None
    """The values of 16-bit pictures that become black and white."""


@dataclass(frozen=True)
class Decoded:
    """An image and what it was before."""

    array: Bytes
    """[channels, side, side]"""
    mode: str
    size: tuple[int, int]
    """Width and height."""


def is_image(name: str) -> bool:
    """Tell by the ending whether a file claims to be an image."""
    return name.lower().endswith(PICTURES + SCANS)


def decode(name: str, content: bytes, pixels: Pixels) -> Decoded:
    """Decode one file.

    Raises:
        Refused: It is damaged, too large, or of a mode that needs a setting.
    """
    try:
        if name.lower().endswith(SCANS):
            from fedsemi.data.medical import read_scan

            image, mode, size = read_scan(name, content, pixels.deep_range)
        else:
            image, mode, size = _picture(content, pixels)
        return Decoded(_fit(image, pixels), mode, size)
    except Refused:
        raise
    except (Image.DecompressionBombError, Image.DecompressionBombWarning):
        raise Refused("FS3103", _too_large()) from None
    except Exception as error:
        # Decoders meet damaged data with whatever they stumble over.
        raise Refused("FS3101", f"cannot be decoded ({_short(error)})") from None


def probe(name: str, content: bytes) -> tuple[str, tuple[int, int], float | None]:
    """Return mode, size and, for 16-bit pictures, the largest value.

    Raises:
        Refused: As `decode`.
    """
    try:
        if name.lower().endswith(SCANS):
            return name.lower().rsplit(".", 1)[-1], (0, 0), None
        with _opened(content) as image:
            deep = image.mode in _DEEP
            top = float(np.asarray(image).max()) if deep else None
            return image.mode, image.size, top
    except Refused:
        raise
    except Exception as error:
        raise Refused("FS3101", f"cannot be decoded ({_short(error)})") from None


def check_size(width: int, height: int) -> None:
    """Refuse more pixels than any site needs, before they are unpacked."""
    if width * height > PIXEL_LIMIT:
        raise Refused("FS3103", _too_large(width, height))


def scale(values: npt.NDArray[Any], limits: Range) -> Image.Image:
    """Map the limits to 0 and 255, and what lies beyond to the nearer end."""
    low, high = limits
    scaled = (values.astype(np.float64) - low) * (255 / (high - low))
    return Image.fromarray(np.rint(scaled.clip(0, 255)).astype(np.uint8))


def _opened(content: bytes) -> Image.Image:
    image = Image.open(io.BytesIO(content), formats=FORMATS)
    check_size(*image.size)
    if image.format in _MOVING and getattr(image, "n_frames", 1) > 1:
        raise Refused("FS3104", "moves; save the one picture of it that is meant")
    return image


def _picture(
    content: bytes, pixels: Pixels
) -> tuple[Image.Image, str, tuple[int, int]]:
    with _opened(content) as image:
        mode, size = image.mode, image.size
        image.load()
        upright = ImageOps.exif_transpose(image)
        return _plain(upright, pixels), mode, size


def _plain(image: Image.Image, pixels: Pixels) -> Image.Image:
    """Reduce any mode to opaque 8-bit gray or color."""
    if image.mode in _DEEP:
        if pixels.deep_range is None:
            raise Refused(
                "FS3104",
                f"has 16-bit values up to {float(np.asarray(image).max()):g}; set "
                "sites.sixteen_bit_range",
            )
        return scale(np.asarray(image), pixels.deep_range)
    if image.mode in _ALPHA or "transparency" in image.info:
        layer = image.convert("RGBA")
        below = Image.new("RGBA", layer.size, (*pixels.background, 255))
        return Image.alpha_composite(below, layer).convert("RGB")
    if image.mode == "P":
        return image.convert("RGB")
    if image.mode in _PLAIN:
        return image if image.mode == "L" else image.convert("RGB")
    raise Refused("FS3104", f"has the color mode {image.mode}; save it as RGB or gray")


def _fit(image: Image.Image, pixels: Pixels) -> Bytes:
    image = image.convert("L" if pixels.channels == 1 else "RGB")
    side = (pixels.side, pixels.side)
    if pixels.side and image.size != side:
        image = image.resize(side, Image.Resampling.BILINEAR)
    array = np.asarray(image)
    return array[None] if array.ndim == 2 else array.transpose(2, 0, 1)


def _too_large(width: int = 0, height: int = 0) -> str:
    size = f"{width} x {height} pixels, " if width else ""
    return f"has {size}more than {PIXEL_LIMIT // 10**6} million pixels; make it smaller"


def _short(error: Exception) -> str:
    text = " ".join(str(error).split())
    # Pillow names the memory address of a buffer, which says nothing to anybody.
    if "BytesIO object" in text:
        text = "not a PNG, JPEG, TIFF, BMP, GIF or WebP file"
    return (text or type(error).__name__)[:80]
