"""Fetching official files: cuts, wrong sums, full disks, missing pages, Ctrl-C."""

from __future__ import annotations

import errno
import fcntl
import hashlib
import os
from collections import namedtuple
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.data.official_server import Shop, serving

from fedsemi.data import download
from fedsemi.data.download import fetch, size_of
from fedsemi.data.readers.source import OfficialFile
from fedsemi.errors import DataError, Interrupted, StorageError

CONTENT = bytes(range(256)) * 40  # 10,240 bytes
MD5 = f"md5:{hashlib.md5(CONTENT).hexdigest()}"


@pytest.fixture(autouse=True)
def shop(monkeypatch: pytest.MonkeyPatch) -> Iterator[Shop]:
    monkeypatch.setattr(download, "PAUSE", 0.0)
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    with serving(Shop({"a.npz": CONTENT})) as shop:
        yield shop


def quiet(done: int, total: int | None) -> None:
    pass


def official(shop: Shop, name: str = "a.npz") -> OfficialFile:
    return OfficialFile(shop.url(name), (MD5,))


def test_a_file_is_fetched_shown_and_checked(shop: Shop, tmp_path: Path) -> None:
    steps: list[tuple[int, int | None]] = []
    path = tmp_path / "new" / "a.npz"
    fetch(official(shop), path, lambda *step: steps.append(step))
    assert path.read_bytes() == CONTENT
    assert steps[-1] == (10_240, 10_240)
    assert [each.name for each in path.parent.iterdir()] == ["a.npz"]


def test_the_query_of_an_address_is_no_part_of_the_name(
    shop: Shop, tmp_path: Path
) -> None:
    file = OfficialFile(f"{shop.url('a.npz')}?download=1", (MD5,))
    assert file.name == "a.npz" and size_of(file, tmp_path) == 10_240


def test_a_cut_connection_is_opened_again_where_it_was_cut(
    shop: Shop, tmp_path: Path
) -> None:
    shop.cuts += [4000, 3000]
    fetch(official(shop), tmp_path / "a.npz", quiet)
    assert (tmp_path / "a.npz").read_bytes() == CONTENT
    assert [part for _, _, part in shop.asked] == [None, "bytes=4000-", "bytes=7000-"]


def test_a_later_command_goes_on_with_what_an_earlier_one_left(
    shop: Shop, tmp_path: Path
) -> None:
    (tmp_path / "a.npz.part").write_bytes(CONTENT[:5000])
    fetch(official(shop), tmp_path / "a.npz", quiet)
    assert (tmp_path / "a.npz").read_bytes() == CONTENT
    assert [part for _, _, part in shop.asked] == ["bytes=5000-"]


def test_a_whole_part_needs_only_its_name(shop: Shop, tmp_path: Path) -> None:
    (tmp_path / "a.npz.part").write_bytes(CONTENT)
    fetch(official(shop), tmp_path / "a.npz", quiet)
    assert (tmp_path / "a.npz").read_bytes() == CONTENT


def test_a_part_that_is_too_long_is_begun_anew(shop: Shop, tmp_path: Path) -> None:
    (tmp_path / "a.npz.part").write_bytes(CONTENT + b"more")
    fetch(official(shop), tmp_path / "a.npz", quiet)
    assert (tmp_path / "a.npz").read_bytes() == CONTENT


def test_a_server_without_ranges_begins_anew(shop: Shop, tmp_path: Path) -> None:
    shop.ranges = False
    shop.cuts += [4000]
    fetch(official(shop), tmp_path / "a.npz", quiet)
    assert (tmp_path / "a.npz").read_bytes() == CONTENT


def test_a_connection_that_is_always_cut_ends_in_a_line_and_keeps_the_part(
    shop: Shop, tmp_path: Path
) -> None:
    shop.cuts += [4000] + [0] * 20
    with pytest.raises(DataError, match=r"FS3052 .*cut 5 times after 4,000 bytes"):
        fetch(official(shop), tmp_path / "a.npz", quiet)
    assert [each.name for each in tmp_path.iterdir()] == ["a.npz.part"]


def test_a_wrong_sum_is_refused_and_nothing_is_left(shop: Shop, tmp_path: Path) -> None:
    shop.files["a.npz"] = CONTENT[:-1] + b"!"
    with pytest.raises(DataError, match=f"FS3054 .*is not a.npz: md5:.*{MD5}"):
        fetch(official(shop), tmp_path / "a.npz", quiet)
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_changed_between_two_tries_is_not_joined(
    shop: Shop, tmp_path: Path
) -> None:
    (tmp_path / "a.npz.part").write_bytes(b"x" * 5000)
    with pytest.raises(DataError, match="FS3054"):
        fetch(official(shop), tmp_path / "a.npz", quiet)
    fetch(official(shop), tmp_path / "a.npz", quiet)
    assert (tmp_path / "a.npz").read_bytes() == CONTENT


def test_a_file_without_a_published_sum_is_never_joined_from_parts(
    shop: Shop, tmp_path: Path
) -> None:
    (tmp_path / "a.npz.part").write_bytes(b"x" * 5000)
    fetch(OfficialFile(shop.url("a.npz")), tmp_path / "a.npz", quiet)
    assert (tmp_path / "a.npz").read_bytes() == CONTENT


def test_a_redirect_is_followed(shop: Shop, tmp_path: Path) -> None:
    shop.moved["old.npz"] = shop.url("a.npz")
    fetch(official(shop, "old.npz"), tmp_path / "old.npz", quiet)
    assert (tmp_path / "old.npz").read_bytes() == CONTENT


def test_a_missing_page_says_which_file_to_put_where(
    shop: Shop, tmp_path: Path
) -> None:
    path = tmp_path / "b.npz"
    with pytest.raises(DataError) as raised:
        fetch(official(shop, "b.npz"), path, quiet)
    assert f"FS3053 {shop.url('b.npz')} answered 404 Not Found" in str(raised.value)
    assert str(raised.value).endswith(f"get b.npz by other means and put it at {path}")
    assert size_of(official(shop, "b.npz"), path) is None


def test_no_network_says_which_file_to_put_where(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    file = OfficialFile("http://127.0.0.1:9/a.npz", (MD5,))  # nobody listens there
    with pytest.raises(DataError, match=r"FS3053 cannot reach .*refused") as raised:
        size_of(file, path)
    assert str(path) in str(raised.value)


def test_a_file_that_does_not_fit_is_not_begun(
    shop: Shop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = namedtuple("usage", "free")
    monkeypatch.setattr("shutil.disk_usage", lambda path: usage(10_000))
    with pytest.raises(StorageError, match=r"FS1201 .*no space \(0.0 MB needed"):
        fetch(official(shop), tmp_path / "a.npz", quiet)
    assert not (tmp_path / "a.npz").exists()


def test_a_disk_that_fills_up_leaves_the_part_to_go_on_with(
    shop: Shop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write, pieces = os.write, []

    def full(descriptor: int, data: bytes) -> int:
        pieces.append(data)
        if len(pieces) == 2:
            raise OSError(errno.ENOSPC, "No space left on device")
        return write(descriptor, data)

    shop.pace = 0.01  # so that it comes in pieces
    with monkeypatch.context() as patched:
        patched.setattr("os.write", full)
        with pytest.raises(StorageError, match=r"FS1201 .*free some space"):
            fetch(official(shop), tmp_path / "a.npz", quiet)
    assert 0 < (tmp_path / "a.npz.part").stat().st_size < len(CONTENT)
    fetch(official(shop), tmp_path / "a.npz", quiet)
    assert (tmp_path / "a.npz").read_bytes() == CONTENT


def test_a_file_without_an_end_is_given_up(
    shop: Shop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(download, "MOST", 5000)
    shop.length = False
    with pytest.raises(DataError, match=r"FS3054 .*more than 5,000 bytes"):
        fetch(official(shop), tmp_path / "a.npz", quiet)


def test_ctrl_c_keeps_what_was_fetched(shop: Shop, tmp_path: Path) -> None:
    def press(done: int, total: int | None) -> None:
        raise KeyboardInterrupt

    shop.pace = 0.01
    with pytest.raises(Interrupted, match="the same command goes on from there"):
        fetch(official(shop), tmp_path / "a.npz", press)
    assert 0 < (tmp_path / "a.npz.part").stat().st_size < len(CONTENT)


def test_two_downloads_of_one_file_do_not_mix(shop: Shop, tmp_path: Path) -> None:
    with (tmp_path / "a.npz.part").open("wb") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        with pytest.raises(DataError, match="FS3051 another process"):
            fetch(official(shop), tmp_path / "a.npz", quiet)


def test_nothing_is_written_through_a_planted_link(shop: Shop, tmp_path: Path) -> None:
    (tmp_path / "a.npz.part").symlink_to(tmp_path / "victim")
    with pytest.raises(StorageError, match="FS1201"):
        fetch(official(shop), tmp_path / "a.npz", quiet)
    assert not (tmp_path / "victim").exists()
