"""Files of features: whole or not at all, private, checked, and bounded."""

from __future__ import annotations

import os
import stat

import numpy as np
import pytest

from fedsemi.errors import ConfigError
from fedsemi.objectives.feature_files import (
    Damaged,
    make_room,
    open_features,
    write_features,
)

NAMES = [bytes([i]) * 16 for i in range(3)]
ROWS = np.arange(12, dtype=np.float16).reshape(3, 4)


@pytest.fixture
def written(tmp_path):
    path = tmp_path / "space" / "clean0-a.features"
    write_features(path, NAMES, ROWS)
    return path


def test_what_was_written_is_mapped_and_not_read_into_memory(written):
    found = open_features(written)
    assert list(found.names) == NAMES
    assert isinstance(found.features, np.memmap)
    assert np.array_equal(found.features, ROWS)


def test_nobody_else_may_read_features(written):
    assert stat.S_IMODE(written.stat().st_mode) == 0o600
    assert stat.S_IMODE(written.parent.stat().st_mode) == 0o700


def test_a_file_has_no_place_for_labels(written):
    # Header, a name of 16 bytes and D halves for each picture, and nothing else.
    assert written.stat().st_size == 512 + 3 * (16 + 2 * 4)


def test_any_flipped_byte_of_content_and_any_torn_end_is_noticed(written):
    whole = written.read_bytes()
    for place in range(512, len(whole)):
        written.write_bytes(
            whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :]
        )
        with pytest.raises(Damaged):
            open_features(written)
    for size in range(0, len(whole), 7):
        written.write_bytes(whole[:size])
        with pytest.raises(Damaged):
            open_features(written)
    written.write_bytes(whole + b"more")
    with pytest.raises(Damaged):
        open_features(written)


def test_a_write_that_is_broken_off_leaves_nothing(tmp_path, monkeypatch):
    def stop(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", stop)
    with pytest.raises(KeyboardInterrupt):
        write_features(tmp_path / "s" / "weak0-a.features", NAMES, ROWS)
    assert list((tmp_path / "s").iterdir()) == []


def test_room_is_made_by_removing_what_was_not_used_for_longest(tmp_path):
    paths = [tmp_path / "s" / f"weak{i}-a.features" for i in range(3)]
    for age, path in zip((30, 10, 20), paths, strict=True):
        write_features(path, NAMES, ROWS)
        then = path.stat().st_mtime - age
        os.utime(path, (then, then))
    size = paths[0].stat().st_size
    make_room(tmp_path, size, 3 * size, used=[])
    assert [path.exists() for path in paths] == [False, True, True]
    make_room(tmp_path, size, 2 * size, used=[paths[2]])
    assert [path.exists() for path in paths] == [False, False, True]


def test_what_is_in_use_stays_and_the_error_says_what_to_set(tmp_path, written):
    size = written.stat().st_size
    with pytest.raises(ConfigError, match=r"FS4195.*cache_gb.*cached_views = 0"):
        make_room(tmp_path, size, 1.5 * size, used=[written])
    assert written.exists()
