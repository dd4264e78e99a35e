import io
import os
import unicodedata
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from fedsemi.data.checksums import MANIFEST, write_manifest
from fedsemi.data.folder import read_site
from fedsemi.data.safe_files import Refused
from fedsemi.data.site_settings import SitesSettings
from fedsemi.errors import DataError

from .pictures import make_site, save_picture


def wish(*folders: Path, **more: object) -> SitesSettings:
    values: dict[str, object] = {"classes": ["cat", "dog"], "channels": 1} | more
    return SitesSettings(folders=[str(f) for f in folders], **values)  # type: ignore[arg-type]


def test_sub_folders_are_classes_and_the_rest_is_unlabeled(tmp_path: Path) -> None:
    root = make_site(tmp_path / "s", {"cat": 2, "dog": 1, "unlabeled": 3, "": 1})
    site = read_site(root, wish(root), 8)
    client, _ = site.divided(4)
    assert client.labels.tolist() == [0, 0, 1]
    assert (client.id, client.num_unlabeled) == (4, 4)
    assert client.labeled_images.shape == (3, 1, 8, 8)
    assert not site.left_out


def test_table_labels_some_and_leaves_the_rest_unlabeled(tmp_path: Path) -> None:
    root = make_site(tmp_path / "s", {"": 4})
    (root / "labels.csv").write_text("file,label,group\n0.png,dog,p\n1.png,,p\n")
    site = read_site(root, wish(root), 8)
    assert site.labels.tolist() == [1, -1, -1, -1]
    assert site.groups == ("p", "p", None, None)


def test_patient_comes_from_the_path(tmp_path: Path) -> None:
    root = tmp_path / "s"
    save_picture(root / "cat" / "P12_a.png", 1)
    save_picture(root / "cat" / "other.png", 2)
    site = read_site(root, wish(root, patient="(P[0-9]+)_"), 8)
    assert site.groups == ("P12", None)


def test_unknown_sub_folder_cannot_join_but_may_be_declared_no_class(
    tmp_path: Path,
) -> None:
    root = make_site(tmp_path / "s", {"dgo": 1})
    with pytest.raises(DataError, match=r"FS3202 s: dgo/0.png: class 'dgo'.*'dog'"):
        read_site(root, wish(root), 8)
    site = read_site(root, wish(root, labels={"s": "none"}), 8)
    assert site.labels.tolist() == [-1]


FOREIGN = [
    "horse",
    "zebra",
    "fish",
    "bird",
    "7",
    "CAT-SCAN",
    "dogs-and-cats",
    "unknown",
    "?",
    "Κατ",
]  # none is a slip of cat or dog that could be read as one


def test_twenty_sites_with_a_foreign_class_cannot_join(
    tmp_path: Path, promise: Any
) -> None:
    failed = 0
    for number, name in enumerate(FOREIGN):
        folders = make_site(tmp_path / f"f{number}", {"cat": 1, name: 1})
        table = make_site(tmp_path / f"t{number}", {"": 2})
        text = f"file,label\n0.png,cat\n1.png,{name}\n"
        (table / "labels.csv").write_text(text, "utf-8")
        for root in (folders, table):
            with pytest.raises(DataError) as error:
                read_site(root, wish(root, max_bad=1.0), 8)
            failed += error.value.code != "FS3202" or name not in str(error.value)
    promise("IN-4 sites with a foreign class cannot join", 2 * len(FOREIGN), failed)
    assert failed == 0


def test_foreign_class_of_a_table_is_refused_with_its_line(tmp_path: Path) -> None:
    root = make_site(tmp_path / "s", {"": 2})
    (root / "labels.csv").write_text("file,label\n0.png,cat\n1.png,CAT-SCAN\n")
    with pytest.raises(DataError) as error:
        read_site(root, wish(root), 8)
    assert str(error.value).startswith(
        "FS3202 s: labels.csv line 3: class 'CAT-SCAN' is not in the federation's list "
        "(did you mean 'cat'?) — the site cannot join. The list is cat, dog; add"
    )


def test_bad_files_are_left_out_below_the_limit_and_stop_above(tmp_path: Path) -> None:
    root = make_site(tmp_path / "s", {"cat": 9})
    (root / "cat" / "bad.png").write_bytes(b"nothing")
    site = read_site(root, wish(root, max_bad=0.1), 8)
    assert len(site) == 9
    assert [(it.file, it.code) for it in site.left_out] == [("cat/bad.png", "FS3101")]
    with pytest.raises(DataError, match="FS3101 s: 1 of 10 images are unusable"):
        read_site(root, wish(root, max_bad=0.09), 8)


def test_bad_rows_stop_above_the_limit(tmp_path: Path) -> None:
    root = make_site(tmp_path / "s", {"": 2})
    (root / "labels.csv").write_text("file,label\n0.png,catt\n1.png,dog\n9.png,dog\n")
    with pytest.raises(DataError, match=r"FS3201 s: 2 of 3 rows.*line 2.*'cat'"):
        read_site(root, wish(root), 8)
    site = read_site(root, wish(root, max_bad=0.7), 8)
    assert site.files == ("1.png",)
    assert [str(it) for it in site.left_out] == [
        "labels.csv line 2: class 'catt' unknown (did you mean 'cat'?)",
        "labels.csv line 4: there is no such image",
    ]


def test_links_and_pipes_are_left_out(tmp_path: Path) -> None:
    root = make_site(tmp_path / "s", {"cat": 1})
    secret = save_picture(tmp_path / "secret.png", 3)
    (root / "cat" / "link.png").symlink_to(secret)
    os.mkfifo(root / "cat" / "pipe.png")
    site = read_site(root, wish(root, max_bad=1.0), 8)
    assert site.files == ("cat/0.png",)
    assert {it.code for it in site.left_out} == {"FS3102"}
    assert len(site.left_out) == 2


def test_empty_site_may_join(tmp_path: Path) -> None:
    root = make_site(tmp_path / "s", {})
    site = read_site(root, wish(root), 8)
    empty, _ = site.divided(0)
    assert empty.num_labeled == empty.num_unlabeled == 0
    assert site.notes[0].startswith("FS3301 s has no usable images")


def test_unicode_names_are_kept_and_twins_are_flagged(tmp_path: Path) -> None:
    root = tmp_path / "s"
    names = [unicodedata.normalize(form, "é.png") for form in ("NFC", "NFD")]
    for value, name in enumerate([*names, "😀 x.png"]):
        save_picture(root / name, value)
    raw = os.fsdecode(b"\xff.png")
    save_picture(root / "plain.png", 9).rename(root / raw)
    site = read_site(root, wish(root), 8)
    assert set(site.files) == {*names, "😀 x.png", raw}
    assert "FS3203 s: 1 file names" in site.notes[0]


IN1 = "IN-1 flipped bits of images are noticed"


def jpeg_site(root: Path) -> Path:
    noise = np.random.default_rng(0).integers(0, 256, (16, 16, 3), dtype=np.uint8)
    (root / "cat").mkdir(parents=True)
    Image.fromarray(noise).save(root / "cat" / "a.jpg")
    Image.fromarray(noise).save(root / "cat" / "b.png")
    return root


def test_every_flipped_bit_is_noticed_against_the_manifest(
    tmp_path: Path, promise: Any
) -> None:
    root = jpeg_site(tmp_path / "s")
    loose = wish(root, max_bad=1.0)
    site = read_site(root, loose, 8)
    write_manifest(root, dict(zip(site.files, site.entries, strict=True)))
    full = wish(root, max_bad=1.0, verify="full")
    assert len(read_site(root, full, 8)) == 2
    rng = np.random.default_rng(1)
    for name in ("cat/a.jpg", "cat/b.png"):
        whole = (root / name).read_bytes()
        for _ in range(10):
            damaged = bytearray(whole)
            damaged[rng.integers(len(whole))] ^= 1 << int(rng.integers(8))
            (root / name).write_bytes(damaged)
            (left_out,) = read_site(root, full, 8).left_out
            assert (left_out.file, left_out.reason) == (name, "sha256 differs")
        (root / name).write_bytes(whole)
    promise(IN1, 20, 0)


@pytest.mark.slow
def test_a_thousand_flipped_bits_are_noticed(tmp_path: Path, promise: Any) -> None:
    from hashlib import sha256

    from fedsemi.data.checksums import Entry, differs

    root = jpeg_site(tmp_path / "s")
    site = read_site(root, wish(root), 8)
    known = dict(zip(site.files, site.entries, strict=True))
    rng = np.random.default_rng(1)
    tried = failed = 0
    for name in known:
        whole = (root / name).read_bytes()
        for _ in range(500):
            damaged = bytearray(whole)
            damaged[rng.integers(len(whole))] ^= 1 << int(rng.integers(8))
            found = Entry(len(damaged), sha256(damaged).hexdigest())
            failed += not differs(known, name, found, full=True)
            tried += 1
    promise(IN1, tried, failed)
    assert tried >= 1000 and failed == 0


def test_size_check_notices_truncation_and_missing_and_new_files(
    tmp_path: Path,
) -> None:
    root = make_site(tmp_path / "s", {"cat": 3})
    site = read_site(root, wish(root), 8)
    write_manifest(root, dict(zip(site.files, site.entries, strict=True)))
    (root / "cat" / "0.png").unlink()
    with (root / "cat" / "1.png").open("ab") as file:
        file.write(b"x")
    save_picture(root / "cat" / "new.png", 5)
    left = read_site(root, wish(root, verify="size", max_bad=1.0), 8).left_out
    reasons = {it.file: it.reason for it in left}
    assert reasons["cat/0.png"] == "is missing"
    assert "the manifest says" in reasons["cat/1.png"]
    assert reasons["cat/new.png"] == "is not in the manifest"


@pytest.mark.parametrize("content", [None, b"{}", b"[", b'{"format": "x"}', b"\xff"])
def test_verification_needs_a_whole_manifest(
    tmp_path: Path, content: bytes | None
) -> None:
    root = make_site(tmp_path / "s", {"cat": 1})
    if content is not None:
        (root / MANIFEST).write_bytes(content)
    with pytest.raises(DataError, match=r"FS3105.*--write-manifest"):
        read_site(root, wish(root, verify="full"), 8)


def test_decoded_pixels_and_faults_come_back_from_the_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr("fedsemi.data.readers.files.KEEP_AFTER_SECONDS", -1.0)
    root = make_site(tmp_path / "s", {"cat": 3})
    (root / "cat" / "bad.png").write_bytes(b"nothing")
    first = read_site(root, wish(root, max_bad=1.0), 8)
    monkeypatch.setattr("fedsemi.data.folder._decode_all", None)
    again = read_site(root, wish(root, max_bad=1.0), 8)
    assert again.images.equal(first.images) and again.left_out == first.left_out
    assert (again.modes, again.sizes) == (first.modes, first.sizes)
    # Another picture of the same name is another content.
    monkeypatch.undo()
    file = io.BytesIO()
    Image.new("L", (8, 8), 200).save(file, "PNG")
    (root / "cat" / "0.png").write_bytes(file.getvalue())
    assert int(read_site(root, wish(root, max_bad=1.0), 8).images[0, 0, 0, 0]) == 200


@pytest.mark.parametrize("letter", ["é", "\x01", "\U0001f600", "\\"])
def test_what_a_decoder_quotes_of_a_file_is_one_reason(
    letter: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Letters that JSON spells with six each once made the facts unreadable."""

    def refuse(*_: object) -> None:
        raise Refused("FS3101", letter * 200)

    monkeypatch.setattr("fedsemi.data.folder.decode", refuse)
    root = make_site(tmp_path / "s", {"cat": 1, "dog": 1})
    with pytest.raises(DataError, match="FS3101") as caught:
        read_site(root, wish(root), 8)
    assert str(caught.value).isprintable()
