"""Notices are lines of a record: code, round, who, what."""

from __future__ import annotations

from fedsemi.runs.records import Notice, Rejection


def test_a_notice_counts_rounds_from_one_and_names_its_client() -> None:
    one = Notice(3, 0, "FS2107", "step shortened")
    assert str(one) == "FS2107 round 1: client 3 step shortened"


def test_a_notice_about_the_whole_round_names_nobody() -> None:
    assert str(Notice(None, 4, "FS2141", "taken back")) == "FS2141 round 5: taken back"


def test_a_client_whose_number_is_zero_is_named_too() -> None:
    assert "client 0 " in str(Rejection(0, 0, "FS2103", "not finite"))


def test_a_dropped_reply_is_a_notice_but_not_the_other_way_round() -> None:
    fields = (1, 0, "FS2103", "not finite")
    assert isinstance(Rejection(*fields), Notice)
    assert Rejection(*fields) != Notice(*fields)
