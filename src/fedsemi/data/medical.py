"""DICOM and NIfTI: the middle slice as a picture (`pip install "fedsemi[medical]"`)."""

from __future__ import annotations

import io
import zlib
from typing import Any

import numpy as np
import numpy.typing as npt
from PIL import Image

from fedsemi.data.decode import Range, check_size, scale
from fedsemi.data.safe_files import Refused

UNPACKED_CAP = 256 << 20
"""The largest volume that a .nii.gz may unpack to, in bytes."""

Values = npt.NDArray[Any]


def read_scan(
    name: str, content: bytes, deep_range: Range | None
) -> tuple[Image.Image, str, tuple[int, int]]:
    """Return the middle slice of a scan, its kind, and its width and height."""
    try:
        if name.lower().endswith(".dcm"):
            return _dicom(content, deep_range)
        return _nifti(content, deep_range)
    except ImportError as error:
        raise Refused(
            "FS3104", f'needs {error.name}; run: pip install "fedsemi[medical]"'
        ) from None


def _dicom(
    content: bytes, deep_range: Range | None
) -> tuple[Image.Image, str, tuple[int, int]]:
    import pydicom
    from pydicom.pixels.processing import apply_modality_lut

    scan = pydicom.dcmread(io.BytesIO(content))
    width, height = int(scan.Columns), int(scan.Rows)
    frames = int(scan.get("NumberOfFrames", 1) or 1)
    check_size(width, height * frames)
    array = scan.pixel_array
    if frames > 1:
        array = array[frames // 2]
    kind = f"dicom {scan.PhotometricInterpretation}"
    if array.ndim == 3:
        return Image.fromarray(array.astype(np.uint8)), kind, (width, height)
    values = np.asarray(apply_modality_lut(array, scan))
    picture = scale(values, deep_range or _window(scan))
    if scan.PhotometricInterpretation == "MONOCHROME1":  # low values are bright
        picture = Image.fromarray(255 - np.asarray(picture))
    return picture, kind, (width, height)


def _window(scan: Any) -> Range:
    """Return the display window that the file declares, else all it can hold."""
    if "WindowCenter" in scan and "WindowWidth" in scan:
        center, width = _first(scan.WindowCenter), _first(scan.WindowWidth)
        return center - width / 2, center + max(width, 1.0) / 2
    bits = int(scan.BitsStored)
    low = -(2 ** (bits - 1)) if int(scan.PixelRepresentation) else 0
    slope = float(scan.get("RescaleSlope", 1) or 1)
    intercept = float(scan.get("RescaleIntercept", 0) or 0)
    return low * slope + intercept, (low + 2**bits - 1) * slope + intercept


def _first(value: Any) -> float:
    return float(value if isinstance(value, int | float | str) else value[0])


def _nifti(
    content: bytes, deep_range: Range | None
) -> tuple[Image.Image, str, tuple[int, int]]:
    import nibabel

    if content[:2] == b"\x1f\x8b":
        content = _unpacked(content)
    volume: Any = nibabel.Nifti1Image.from_bytes(content)
    shape = volume.shape
    check_size(int(np.prod(shape)), 1)
    if deep_range is None:
        raise Refused("FS3104", "is a NIfTI volume; set sites.sixteen_bit_range")
    slices = np.asarray(volume.dataobj).reshape(*shape[:2], -1)
    middle = slices[:, :, slices.shape[2] // 2]
    # NIfTI counts x first and y upwards; pictures have rows from the top.
    picture = scale(np.flipud(middle.T), deep_range)
    return picture, f"nifti {slices.shape[2]} slices", (shape[0], shape[1])


def _unpacked(content: bytes) -> bytes:
    unpacker = zlib.decompressobj(wbits=31)
    volume = unpacker.decompress(content, UNPACKED_CAP)
    if unpacker.unconsumed_tail:
        raise Refused("FS3103", f"unpacks to more than {UNPACKED_CAP >> 20} MB")
    return volume
