"""The order that is kept beside the pictures, for their owner alone."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from fedsemi.asking.queue import FILE, Asked, Queue, read_queue, write_queue

SOME = Queue("m", "random", (Asked("a;\udcff.png", "cat", 0.5),), ("b.png",))


def test_what_was_kept_is_read_again_byte_for_byte(tmp_path: Path) -> None:
    write_queue(tmp_path, SOME)
    assert read_queue(tmp_path, "m", "random") == SOME
    assert stat.S_IMODE((tmp_path / FILE).stat().st_mode) == 0o600


def test_another_model_or_rule_begins_anew(tmp_path: Path) -> None:
    write_queue(tmp_path, SOME)
    assert read_queue(tmp_path, "n", "random") == Queue("n", "random")
    assert read_queue(tmp_path, "m", "coverage") == Queue("m", "coverage")


@pytest.mark.parametrize(
    "content",
    ["", "[]", "{}", '{"model":"m","rule":"random","asked":[{"file":1}],"skipped":[]}'],
)
def test_what_is_no_queue_begins_anew(content: str, tmp_path: Path) -> None:
    (tmp_path / FILE).write_text(content)
    assert read_queue(tmp_path, "m", "random") == Queue("m", "random")


def test_the_list_is_csv_with_names_byte_for_byte() -> None:
    assert SOME.as_csv() == (
        b"place,file,guess,probability\r\n1,a;\xff.png,cat,0.500000\r\n"
    )
