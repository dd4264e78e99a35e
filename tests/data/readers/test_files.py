from pathlib import Path

import numpy as np
import pytest

from fedsemi.data.readers import files
from fedsemi.data.readers.files import kept, locate, verify
from fedsemi.errors import DataError


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def never():
    raise AssertionError("decoded again")


def test_a_file_is_found_in_the_folder_before_its_subfolder(tmp_path):
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "a").touch()
    assert locate(tmp_path, "a", inside=("sub",)) == tmp_path / "sub" / "a"
    (tmp_path / "a").touch()
    assert locate(tmp_path, "a", inside=("sub",)) == tmp_path / "a"
    assert locate(tmp_path, "b", inside=("sub",)) is None


def test_a_file_with_another_sum_is_refused_with_both_sums(tmp_path):
    path = tmp_path / "svhn.npz"
    path.write_bytes(b"hello")
    with pytest.raises(
        DataError,
        match=r"FS3002 .*svhn\.npz is damaged or another version: its sha256 is 2cf24d"
        r".*expected 90bae7.*; download it again",
    ):
        verify(path)


def test_md5_sums_are_checked_too_and_unknown_names_pass(tmp_path, monkeypatch):
    monkeypatch.setitem(files.CHECKSUMS, "a", "md5:5d41402abc4b2a76b9719d911017c592")
    for name in ("a", "unlisted"):
        (tmp_path / name).write_bytes(b"hello")
        assert verify(tmp_path / name).startswith("2cf24dba5fb0a30e")
    (tmp_path / "a").write_bytes(b"hallo")
    with pytest.raises(DataError, match="its md5 is"):
        verify(tmp_path / "a")


def test_slow_decoding_is_kept_and_quick_decoding_is_not(home, monkeypatch):
    array = np.arange(12, dtype=np.uint8).reshape(3, 4)
    assert kept("quick", lambda: array) is array
    assert not home.exists()
    monkeypatch.setattr(files, "KEEP_AFTER_SECONDS", -1.0)
    kept("slow", lambda: array)
    again = kept("slow", never)
    assert np.array_equal(again, array)
    folder = home / ".cache" / "fedsemi" / "decoded"
    assert [path.name for path in folder.iterdir()] == ["slow.npy"]


def test_what_is_kept_can_be_written_to_without_changing_the_file(monkeypatch):
    monkeypatch.setattr(files, "KEEP_AFTER_SECONDS", -1.0)
    kept("a", lambda: np.zeros(3, dtype=np.uint8))
    kept("a", never)[0] = 9
    assert kept("a", never)[0] == 0


@pytest.mark.parametrize("content", [b"", b"spoilt", b"\x93NUMPY\x01\x00"])
def test_a_spoilt_kept_file_is_made_anew(home, monkeypatch, content):
    monkeypatch.setattr(files, "KEEP_AFTER_SECONDS", -1.0)
    path = home / ".cache" / "fedsemi" / "decoded" / "a.npy"
    path.parent.mkdir(parents=True)
    path.write_bytes(content)
    array = np.ones(3, dtype=np.uint8)
    assert np.array_equal(kept("a", lambda: array), array)
    assert np.array_equal(kept("a", never), array)


def test_a_home_that_cannot_be_written_costs_only_time(home, monkeypatch):
    monkeypatch.setattr(files, "KEEP_AFTER_SECONDS", -1.0)
    Path(home).write_text("a file, not a folder")
    array = np.ones(3, dtype=np.uint8)
    assert np.array_equal(kept("a", lambda: array), array)
