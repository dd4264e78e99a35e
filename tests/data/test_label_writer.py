"""One label more in somebody's table, and every other byte as it was."""

from __future__ import annotations

import csv
import io
import os
import stat
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fedsemi.data.label_table import read_table
from fedsemi.data.label_writer import write_label
from fedsemi.errors import DataError

CLASSES = ["cat", "dog, wet"]


def table(folder: Path) -> bytes:
    return (folder / "labels.csv").read_bytes()


def write(folder: Path, name: str, label: str | None, **others: str) -> None:
    write_label(folder, name, label, CLASSES, others)


def test_the_first_label_makes_the_table(tmp_path: Path) -> None:
    write(tmp_path, "a/1.png", "dog, wet")
    assert table(tmp_path) == b'file,label\na/1.png,"dog, wet"\n'


def test_a_new_table_begins_with_the_labels_that_it_would_hide(tmp_path: Path) -> None:
    write_label(tmp_path, "9.png", "cat", CLASSES, {"cat/2.png": "cat"})
    assert table(tmp_path) == b"file,label\ncat/2.png,cat\n9.png,cat\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"file,label\n1.png,\n", b"file,label\n1.png,cat\n"),
        (b"file,label\n1.png,cat", b"file,label\n1.png,cat\n"),
        (b"file;label\r\n2.png;cat\r\n", b"file;label\r\n2.png;cat\r\n1.png;cat\r\n"),
        (b"file,label\n2.png,cat", b"file,label\n2.png,cat\n1.png,cat\n"),
        (
            b'\xef\xbb\xbfLabel,note,FILE\n,"two\nlines",./1.png\n',
            b'\xef\xbb\xbfLabel,note,FILE\ncat,"two\nlines",./1.png\n',
        ),
        (
            b"file , label\n\n x.png , cat\n\xff.png,cat\n",
            b"file , label\n\n x.png , cat\n\xff.png,cat\n1.png,cat\n",
        ),
    ],
    ids=["blank", "same", "windows", "no-end", "own-columns", "odd-bytes"],
)
def test_only_the_record_of_the_picture_changes(
    before: bytes, after: bytes, tmp_path: Path
) -> None:
    (tmp_path / "labels.csv").write_bytes(before)
    write(tmp_path, "1.png", "cat")
    assert table(tmp_path) == after


def test_a_label_that_is_taken_back_leaves_a_blank(tmp_path: Path) -> None:
    write(tmp_path, "1.png", "cat")
    write(tmp_path, "1.png", None)
    assert read_table(table(tmp_path), "site", CLASSES).labels == {"1.png": None}


def test_a_label_outside_of_the_list_is_not_written(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="FS6400 'cow' is no class"):
        write(tmp_path, "1.png", "cow")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["../1.png", "/etc/1.png", "a/../../1.png", ""])
def test_a_path_that_leaves_the_folder_is_not_written(
    name: str, tmp_path: Path
) -> None:
    with pytest.raises(DataError, match="FS3501"):
        write(tmp_path, name, "cat")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "content",
    [b"", b"name,class\n1.png,cat\n", b'file,label\n1.png,"ca'],
    ids=["empty", "columns", "quote"],
)
def test_a_table_that_is_none_is_left_as_it_is(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "labels.csv").write_bytes(content)
    with pytest.raises(DataError, match="FS3201"):
        write(tmp_path, "1.png", "cat")
    assert table(tmp_path) == content


def test_a_link_is_not_written_through(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").write_text("file,label\n")
    site = tmp_path / "site"
    site.mkdir()
    (site / "labels.csv").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(DataError, match="FS3102"):
        write(site, "1.png", "cat")
    assert (tmp_path / "elsewhere").read_text() == "file,label\n"


def test_a_table_stays_as_private_as_it_was(tmp_path: Path) -> None:
    (tmp_path / "labels.csv").write_text("file,label\n")
    os.chmod(tmp_path / "labels.csv", 0o600)
    write(tmp_path, "1.png", "cat")
    assert stat.S_IMODE((tmp_path / "labels.csv").stat().st_mode) == 0o600


def test_a_crash_while_writing_leaves_the_old_table(
    tmp_path: Path, monkeypatch
) -> None:
    write(tmp_path, "1.png", "cat")

    def crash(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", crash)
    with pytest.raises(Exception, match="FS1201"):
        write(tmp_path, "2.png", "cat")
    assert table(tmp_path) == b"file,label\n1.png,cat\n"
    assert [path.name for path in tmp_path.iterdir()] == ["labels.csv"]


_names = st.text(st.sampled_from("ab/.;,\" \n'é"), min_size=1, max_size=8).filter(
    lambda name: name.strip("/. \n") and ".." not in name and name[0] != "/"
)


@settings(max_examples=50, deadline=None)
@given(
    st.dictionaries(_names, st.sampled_from(["", *CLASSES]), max_size=5),
    st.sampled_from([",", ";", "\t"]),
    _names,
)
def test_whatever_names_there_are_the_reader_finds_what_was_written(
    tmp_path_factory: pytest.TempPathFactory, rows, delimiter: str, name: str
) -> None:
    folder = tmp_path_factory.mktemp("site")
    text = io.StringIO(newline="")
    writer = csv.writer(text, delimiter=delimiter, lineterminator="\n")
    writer.writerows([("file", "label"), *rows.items()])
    content = text.getvalue().encode()
    (folder / "labels.csv").write_bytes(content)
    before = read_table(content, "site", CLASSES)

    write(folder, name, "cat")

    after = read_table(table(folder), "site", CLASSES)
    plain = "/".join(part for part in name.split("/") if part not in ("", "."))
    assert after.labels == {**before.labels, plain: "cat"}
