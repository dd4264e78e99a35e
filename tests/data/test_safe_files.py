import os
import random
import sys
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import strategies as st

from fedsemi.data.safe_files import Refused, inside, read_regular, walk
from fedsemi.errors import DataError

OPENED: list[str] = []


def _hook(event: str, arguments: tuple[object, ...]) -> None:
    if event == "open" and isinstance(arguments[0], str | bytes):
        OPENED.append(os.fsdecode(arguments[0]))


def test_regular_file_is_read(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "b").write_bytes(b"12")
    assert read_regular(tmp_path, "a/b") == b"12"
    assert read_regular(tmp_path, "./a//b") == b"12"


@pytest.mark.parametrize(
    "kind",
    [
        "missing",
        "folder",
        "fifo",
        "link",
        "link out",
        "device link",
        "large",
        "secret",
        "socket",
        "folder link",
        "file as folder",
        "loop",
    ],
)
def test_twelve_kinds_of_no_file_are_refused(
    tmp_path: Path, kind: str, promise: Any
) -> None:
    root = tmp_path / "root"
    root.mkdir()
    (tmp_path / "outside").write_bytes(b"secret")
    (root / "inside").write_bytes(b"fine")
    name = "x"
    place = root / "x"
    if kind == "folder":
        place.mkdir()
    elif kind == "fifo":
        os.mkfifo(place)
    elif kind == "link":
        place.symlink_to(root / "inside")
    elif kind == "link out":
        place.symlink_to(tmp_path / "outside")
    elif kind == "device link":
        place.symlink_to("/dev/zero")
    elif kind == "large":
        place.write_bytes(b"12345")
    elif kind == "secret":
        if os.geteuid() == 0:
            pytest.skip("root may read everything")
        place.write_bytes(b"1")
        place.chmod(0)
    elif kind == "socket":
        os.mknod(place, 0o140600)
    elif kind == "folder link":
        place.symlink_to(tmp_path)
        name = "x/outside"
    elif kind == "file as folder":
        name = "inside/x"
    elif kind == "loop":
        place.symlink_to(place)
    with pytest.raises(Refused) as error:
        read_regular(root, name, cap=4)
    promise("IN-2 kinds of what is no regular file", 1, error.value.code != "FS3102")
    assert error.value.code == "FS3102"


@pytest.mark.parametrize("text", ["/etc/passwd", "../x", "a/../../x", "a\0b", "", "."])
def test_paths_that_leave_the_folder_are_refused(text: str) -> None:
    with pytest.raises(DataError, match=r"FS3501 labels.csv line 7 points outside"):
        inside(text, "labels.csv line 7")


def test_walk_yields_links_but_never_follows_them(tmp_path: Path) -> None:
    root = tmp_path / "root"
    (root / "sub").mkdir(parents=True)
    (root / "sub" / "ä😀.png").write_bytes(b"")
    (root / ".hidden.png").write_bytes(b"")
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "secret.png").write_bytes(b"")
    (root / "out").symlink_to(tmp_path / "outside")
    assert list(walk(root)) == [("out", False), ("sub/ä😀.png", True)]


def test_names_that_are_not_unicode_are_kept_byte_for_byte(tmp_path: Path) -> None:
    raw = b"caf\xe9-\xff.png"
    Path(os.fsdecode(os.fsencode(tmp_path) + b"/" + raw)).write_bytes(b"7")
    ((name, regular),) = walk(tmp_path)
    assert regular and os.fsencode(name) == raw
    assert read_regular(tmp_path, name) == b"7"


def odd_names(count: int) -> list[bytes]:
    """Draw names of letters, marks, emoji, half pairs and bytes that are no UTF-8."""
    rng = random.Random(11)
    signs = [
        "a",
        "é",
        "e\u0301",
        "ß",
        "ﬁ",
        "中",
        "😀",
        "\u202e",
        " ",
        "'",
        "[",
        "%",
        "\n",
    ]
    raw = [b"\xff", b"\xe9", b"\xed\xa0\x80", b"\xc3"]
    pieces = [sign.encode() for sign in signs] + raw
    names = {
        b"".join(rng.choices(pieces, k=rng.randrange(1, 20))) for _ in range(count)
    }
    return [name + b" %d.png" % number for number, name in enumerate(sorted(names))]


def test_two_thousand_names_come_back_byte_for_byte(
    tmp_path: Path, promise: Any
) -> None:
    names = odd_names(2300)[:2000]
    for name in names:
        Path(os.fsdecode(os.fsencode(tmp_path) + b"/" + name)).write_bytes(name)
    found = [name for name, regular in walk(tmp_path) if regular]
    same = [read_regular(tmp_path, name) == os.fsencode(name) for name in found]
    lost = set(names) - {os.fsencode(name) for name in found}
    failed = len(lost) + same.count(False)
    promise("IN-11 names of any bytes come back", len(names), failed)
    assert len(names) == 2000 and failed == 0


PARTS = st.sampled_from(["..", ".", "a", "b", "", "/", "out", "x\0", "~", "etc", "ä"])
PATHS = st.one_of(st.lists(PARTS, max_size=6).map("/".join), st.text(max_size=20))


def _opens_nothing_outside(root: Path, text: str) -> None:
    OPENED.clear()
    with suppress(Refused, DataError, UnicodeEncodeError):
        read_regular(root, text)
    # Everything below the root is opened by a bare name relative to its folder.
    bad = [path for path in OPENED if path != str(root) and "/" in path]
    assert not bad and ".." not in OPENED


@pytest.fixture(scope="module")
def trap(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("trap") / "root"
    (root / "a" / "b").mkdir(parents=True)
    (root / "out").symlink_to("/etc")
    (root / "a" / "out").symlink_to("../..")
    sys.addaudithook(_hook)
    return root


IN12 = "IN-12 paths of any kind open nothing outside"


def test_no_path_opens_anything_outside(trap: Path, tried_on: Any) -> None:
    tried_on(IN12, 200, partial(_opens_nothing_outside, trap), PATHS)


@pytest.mark.slow
def test_ten_thousand_paths_open_nothing_outside(trap: Path, tried_on: Any) -> None:
    tried_on(IN12, 10_000, partial(_opens_nothing_outside, trap), PATHS)
