"""The pictures of the architecture show the code as it is, or are refused."""

from pathlib import Path

import pytest
from tools.draw import path, rooms
from tools.draw.code import find
from tools.draw.page import written
from tools.draw.path import Step, lines_to_read, path_of_a_round
from tools.draw.pictures import ROOT, drawn
from tools.draw.survey import Room, reached, room_of, shown, survey

SOURCE = ROOT / "src" / "fedsemi"


def made(**uses: str) -> dict[str, Room]:
    return {
        name: Room((), "", 1, 1, frozenset(others.split()))
        for name, others in uses.items()
    }


def test_pictures_and_numbers_are_those_of_the_code() -> None:
    stale = [p.name for p, content in drawn().items() if p.read_text() != content]
    assert not stale, f"run `make pictures`: {stale} do not show the code as it is"


def test_an_arrow_that_follows_from_others_is_left_out() -> None:
    """With a -> b -> c, the arrow a -> c says nothing new."""
    house = made(a="b c", b="c", c="")
    assert shown(house) == [("a", "b"), ("b", "c")]
    assert reached(house, "a") == {"b", "c"}


def test_no_arrow_goes_up_and_none_from_a_site_to_the_truth() -> None:
    house = survey(SOURCE)
    arrows = shown(house)
    assert all(rooms.PLAN[a].floor <= rooms.PLAN[b].floor for a, b in arrows)
    assert not {"simulation", "server", "report"} & reached(house, "deployment.site")


@pytest.mark.parametrize(
    ("module", "room"),
    [
        ("fedsemi.deployment.site.desk", "deployment.site"),
        ("fedsemi.deployment.codec", "deployment"),
        ("fedsemi.data.readers.source", "data"),
        ("fedsemi.state", "the nouns"),
        ("fedsemi.text.screen", "words that everybody needs"),
        ("fedsemi.seeds", "words that everybody needs"),
        ("fedsemi", None),
    ],
)
def test_modules_are_found_in_their_rooms(module: str, room: str | None) -> None:
    assert room_of(module, {"deployment", "data", "text"}) == room


def test_a_room_without_a_place_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(rooms.PLAN, "valuation")
    with pytest.raises(SystemExit, match=r"\['valuation'\] a place in tools/draw"):
        rooms.draw(SOURCE)


@pytest.mark.parametrize(
    "wrong",
    [
        # Never called there.
        Step("server/members.py:joined", by="server/gate.py:Gate.check"),
        Step("server/rounds.py:run", by="server/rounds.py:gone"),  # no such caller
    ],
)
def test_a_step_that_the_code_does_not_take_is_refused(
    wrong: Step, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(path, "ASKING", (*path.ASKING, wrong))
    with pytest.raises(SystemExit, match=r"does not call joined|has no gone"):
        path_of_a_round(SOURCE)


def test_steps_in_another_order_than_the_code_are_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(path, "ASKING", path.ASKING[::-1])
    with pytest.raises(SystemExit, match="in another order"):
        path_of_a_round(SOURCE)


def test_functions_are_found_with_their_place_words_and_lines(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(
        'class A:\n    x: int\n    """Its x."""\n\n'
        '    def f(self):\n        """Say f.\n\n        More."""\n        return g()\n'
    )
    found = find(tmp_path, "a.py:A.f")
    assert (found.place, found.says, found.num_lines) == ("a.py:5", "Say f.", 5)
    assert (found.calls("g"), found.calls("h")) == (9, None)
    assert list(find(tmp_path, "a.py:A").fields()) == [("x", "int", "Its x.")]


def test_the_page_says_how_much_there_is_to_read() -> None:
    page = "before\n<!-- drawn -->\nold\n<!-- end -->\nafter"
    count = lines_to_read(SOURCE)
    new = written(page, SOURCE)
    assert f"**{count['round']} lines**" in new and "old" not in new
    assert new.startswith("before\n") and new.endswith("\nafter")


def test_a_round_is_at_most_350_lines_to_read_without_the_checks() -> None:
    count = lines_to_read(SOURCE)
    assert count["round"] + count["equations"] <= 350
