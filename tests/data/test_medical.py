import gzip
import io

import numpy as np
import pytest

from fedsemi.data.decode import Pixels, decode
from fedsemi.data.safe_files import Refused

pydicom = pytest.importorskip("pydicom")
nibabel = pytest.importorskip("nibabel")

GRAY = Pixels(side=2, channels=1)


def dicom(values: np.ndarray, **tags: object) -> bytes:
    from pydicom.dataset import FileDataset, FileMetaDataset
    from pydicom.uid import ExplicitVRLittleEndian

    meta = FileMetaDataset()
    meta.TransferSyntaxUID = ExplicitVRLittleEndian
    meta.MediaStorageSOPClassUID = "1.2.840.10008.5.1.4.1.1.7"
    meta.MediaStorageSOPInstanceUID = "1.2.3"
    scan = FileDataset("x", {}, file_meta=meta, preamble=bytes(128))
    scan.Rows, scan.Columns = values.shape[-2:]
    scan.SamplesPerPixel, scan.PixelRepresentation = 1, 0
    scan.PhotometricInterpretation = "MONOCHROME2"
    scan.BitsAllocated, scan.BitsStored, scan.HighBit = 16, 12, 11
    scan.PixelData = values.astype("<u2").tobytes()
    for name, value in tags.items():
        setattr(scan, name, value)
    file = io.BytesIO()
    scan.save_as(file, enforce_file_format=True)
    return file.getvalue()


def pixel(name: str, content: bytes, pixels: Pixels = GRAY) -> int:
    return int(decode(name, content, pixels).array[0, 0, 0])


def test_dicom_is_scaled_by_what_it_can_hold() -> None:
    # 2048 of 4095: 127.53
    assert pixel("a.dcm", dicom(np.full((2, 2), 2048))) == 128


def test_dicom_window_and_rescaling_count() -> None:
    # 1050 - 1000 = 50; the window 40 +- 100 runs from -60 to 140: 110 / 200 * 255
    scan = dicom(
        np.full((2, 2), 1050),
        RescaleSlope=1,
        RescaleIntercept=-1000,
        WindowCenter=40,
        WindowWidth=200,
    )
    assert pixel("a.dcm", scan) == 140


def test_dicom_with_bright_low_values_is_inverted() -> None:
    scan = dicom(np.zeros((2, 2)), PhotometricInterpretation="MONOCHROME1")
    assert pixel("a.dcm", scan) == 255


def test_dicom_volume_gives_its_middle_frame() -> None:
    frames = np.stack([np.full((2, 2), v) for v in (0, 4095, 0)])
    assert pixel("a.dcm", dicom(frames, NumberOfFrames=3)) == 255


def test_damaged_and_giant_dicom_are_refused() -> None:
    whole = dicom(np.zeros((2, 2)))
    with pytest.raises(Refused):
        pixel("a.dcm", whole[:-4])
    with pytest.raises(Refused):
        pixel("a.dcm", b"not dicom")
    with pytest.raises(Refused) as error:
        pixel("a.dcm", dicom(np.zeros((2, 2)), Rows=60_000, Columns=60_000))
    assert error.value.code == "FS3103"


@pytest.mark.parametrize("packed", [False, True])
def test_nifti_gives_its_middle_slice_with_rows_from_the_top(packed: bool) -> None:
    volume = np.zeros((2, 2, 3), np.int16)
    volume[0, 1, 1] = 1000  # left in x, high in y: the top left pixel
    content = nibabel.Nifti1Image(volume, np.eye(4)).to_bytes()
    name, content = ("a.nii.gz", gzip.compress(content)) if packed else ("a", content)
    image = decode(
        name if packed else "a.nii", content, Pixels(2, 1, deep_range=(0, 1000))
    )
    assert image.array.tolist() == [[[255, 0], [0, 0]]]


def test_nifti_without_a_range_says_what_to_set() -> None:
    content = nibabel.Nifti1Image(np.zeros((2, 2, 2), np.int16), np.eye(4)).to_bytes()
    with pytest.raises(Refused, match="sixteen_bit_range"):
        pixel("a.nii", content)


def test_packed_volume_that_unpacks_without_end_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("fedsemi.data.medical.UNPACKED_CAP", 1000)
    with pytest.raises(Refused) as error:
        pixel("a.nii.gz", gzip.compress(bytes(100_000)))
    assert error.value.code == "FS3103"
