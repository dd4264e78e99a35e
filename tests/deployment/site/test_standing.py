from __future__ import annotations

import pytest

from fedsemi.deployment.site import standing
from fedsemi.deployment.site.standing import (
    STANDING,
    Standing,
    check_standing,
    note_told,
    read_standing,
    write_standing,
)
from fedsemi.errors import ConfigError, ProtocolError


def test_a_site_takes_part_unless_its_owner_says_otherwise(tmp_path):
    check_standing(tmp_path)
    write_standing(tmp_path, Standing("away"))
    with pytest.raises(ProtocolError, match=r"FS5042 is away$"):
        check_standing(tmp_path)
    write_standing(tmp_path, Standing())
    check_standing(tmp_path)
    assert not (tmp_path / STANDING).exists()


def test_a_pause_with_an_end_ends_by_itself(tmp_path, monkeypatch):
    write_standing(tmp_path, Standing("away", until=1_800_000_000.0))
    monkeypatch.setattr(standing.time, "time", lambda: 1_799_999_999.0)
    with pytest.raises(ProtocolError, match="is away until 2027-01-15 08:00 UTC"):
        check_standing(tmp_path)
    monkeypatch.setattr(standing.time, "time", lambda: 1_800_000_000.0)
    check_standing(tmp_path)


def test_who_leaves_notes_that_the_coordinator_was_told(tmp_path):
    write_standing(tmp_path, Standing("left"))
    assert not read_standing(tmp_path).told
    with pytest.raises(ProtocolError, match="FS5041 has left"):
        check_standing(tmp_path)
    assert not read_standing(tmp_path).told  # the answer is still on its way
    note_told(tmp_path)
    assert read_standing(tmp_path) == Standing("left", told=True)


def test_there_is_nothing_to_tell_of_a_site_that_takes_part(tmp_path):
    note_told(tmp_path)
    assert not (tmp_path / STANDING).exists()


@pytest.mark.parametrize("text", ["", "[]", '{"state": "gone"}', '{"x": 1}', "{"])
def test_a_damaged_file_stops_the_answers(tmp_path, text):
    (tmp_path / STANDING).write_text(text)
    with pytest.raises(ConfigError, match=r"FS5045 .*standing\.json' is damaged"):
        check_standing(tmp_path)
