"""Answers of a person: written at once, taken back, and there after a restart."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from fedsemi.asking.asker import Asker
from fedsemi.asking.desk import Desk
from fedsemi.asking.shelf import Shelf
from fedsemi.errors import DataError


def test_a_label_is_in_the_table_before_the_next_question(desk: Desk) -> None:
    desk.answer(2, 1)
    assert desk.shelf.pictures()[1] == {desk.file(2): desk.shelf.classes[1]}
    assert desk.counts == (1, 0)


def test_undo_goes_back_one_answer_after_the_other(desk: Desk) -> None:
    desk.answer(0, 1)
    desk.answer(0, 2)
    desk.skip(1)
    assert desk.undo() == 1
    assert desk.undo() == 0
    assert desk.shelf.pictures()[1] == {desk.file(0): desk.shelf.classes[1]}
    assert desk.undo() == 0
    assert desk.undo() is None
    assert desk.counts == (0, 0)
    assert desk.shelf.pictures()[1] == {}


def test_a_restart_goes_on_where_it_was(desk: Desk, shelf: Shelf, asker: Asker) -> None:
    desk.answer(0, 3)
    desk.skip(1)
    again = Desk(shelf, asker.queue(shelf, "uncertainty", 5)[0])
    rows = again.view()["rows"]
    assert [row["file"] for row in rows] == [desk.file(row) for row in range(5)]
    assert rows[0]["label"] == shelf.classes[3]
    assert [row["skipped"] for row in rows] == [False, True, False, False, False]
    assert again.undo() is None  # of an earlier session nothing is taken back unseen


def test_who_skips_a_labeled_picture_takes_its_label_away(desk: Desk) -> None:
    desk.answer(0, 0)
    desk.skip(0)
    assert desk.counts == (0, 1)
    assert desk.shelf.pictures()[1] == {}
    desk.answer(0, 0)
    assert desk.counts == (1, 0)


@pytest.mark.parametrize(("row", "label"), [(5, 0), (-1, 0), (0, 4), (0, -1)])
def test_rows_and_classes_that_are_not_there_are_refused(
    row: int, label: int, desk: Desk
) -> None:
    with pytest.raises(DataError, match=r"FS640[07] there is no"):
        desk.answer(row, label)
    assert desk.counts == (0, 0)
    assert desk.undo() is None


def test_what_could_not_be_written_is_not_shown_as_written(
    desk: Desk, monkeypatch
) -> None:
    def full(*_: object) -> None:
        raise DataError("the disk is full")

    monkeypatch.setattr(Shelf, "write", full)
    with pytest.raises(DataError, match="full"):
        desk.answer(0, 0)
    assert desk.view()["rows"][0]["label"] is None
    assert desk.undo() is None


def test_answers_at_the_same_time_lose_no_label(desk: Desk) -> None:
    with ThreadPoolExecutor(5) as pool:
        list(pool.map(lambda row: desk.answer(row, row % 4), range(5)))
    assert len(desk.shelf.pictures()[1]) == 5


def test_what_somebody_else_writes_meanwhile_stays(desk: Desk) -> None:
    desk.answer(0, 0)
    table = desk.shelf.folder / "labels.csv"
    table.write_text(table.read_text() + f"{desk.file(4)},{desk.shelf.classes[2]}\n")
    desk.answer(1, 1)
    assert desk.shelf.pictures()[1][desk.file(4)] == desk.shelf.classes[2]
