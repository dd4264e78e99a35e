"""All questions on one screen: a line each, however many places it is asked at."""

from __future__ import annotations

from fedsemi.evidence.answer import Answer
from fedsemi.evidence.answers import answer_of
from fedsemi.evidence.overview import (
    GLANCE,
    NOTE,
    as_markdown,
    at_a_glance,
    corrected,
    overview,
)
from fedsemi.evidence.profiles import read_profile
from fedsemi.evidence.questions import QUESTIONS
from fedsemi.evidence.results import Evidence
from fedsemi.evidence.short import ALSO, NO, OPEN, SO, TRADE, YES, Part


def asked(name: str, *parts: Part) -> Answer:
    """Make an answer of these parts."""
    return Answer(name, f"What of {name}?", "", (), (), (), "", parts=parts)


def test_a_question_that_is_asked_at_several_places_has_one_line() -> None:
    first = asked("q1", Part(OPEN, "SVHN"))
    again = asked("q1-isic18", Part(NO, "ISIC-18"))
    other = asked("q2", Part(YES, "MNIST"))
    lines = overview([first, again, other])
    assert [(line.name, line.question) for line in lines] == [
        ("Q1", "What of q1?"),
        ("Q2", "What of q2?"),
    ]
    assert lines[0].answer == [(NO, "ISIC-18"), (OPEN, "SVHN")]


def test_what_asks_how_much_has_no_line() -> None:
    assert overview([asked("q3-dose")]) == []


def test_a_table_has_a_row_for_each_question_and_says_what_its_numbers_are() -> None:
    table = as_markdown(overview([asked("q2", Part(YES, "a"), Part(OPEN, "b"))]))
    assert "| Q2: What of q2? | **Yes:** a<br>**Open:** b |" in table
    assert NOTE in table


def test_at_a_glance_there_is_a_column_for_each_word_and_what_follows() -> None:
    parts = (
        Part(YES, "a +1.00 (+0.50 to +1.50)", "a +1.00"),
        Part(OPEN, "b +1.00 (−1.00 to +3.00)", "b +1.00 †"),
        Part(YES, "c +2.00 (+1.00 to +3.00)", "c +2.00"),
        Part(ALSO, "not for a first look"),
        Part(SO, "not recommended"),
    )
    table = at_a_glance(overview([asked("q2", *parts)]))
    asked_here = "Q2: What of q2?<br>*So: not recommended*"
    row = f"| {asked_here} | a +1.00<br>c +2.00 |  | b +1.00 † |"
    assert table.splitlines()[2] == row
    assert GLANCE in table and "first look" not in table


def test_at_a_glance_a_trade_is_neither_yes_nor_no() -> None:
    trade = Part(TRADE, "a +1.00 (+0.50 to +1.50)", "a +1.00 †")
    table = at_a_glance(overview([asked("q2", trade)]))
    assert "| Q2: What of q2? |  |  | Trade: a +1.00 † |" in table


def test_below_it_stands_how_many_differences_are_left_when_all_are_counted() -> None:
    # .04 is no longer below .05 / 2 when .001 is taken out of three.
    first = asked("q1", Part(YES, "a", "a", 0.001), Part(OPEN, "b", "b", 0.2))
    second = asked("q2", Part(YES, "c", "c", 0.04), Part(ALSO, "d", p=0.0001))
    assert corrected(overview([first, second])) == (
        "Of 3 differences 2 exclude zero, each by its own interval; corrected for "
        "their number (Holm) 1 do, in Q1."
    )
    assert corrected(overview([asked("q1", Part(OPEN, "not run", "not run"))])) == ""


def test_every_question_that_was_not_run_is_open() -> None:
    nothing = Evidence(read_profile("medium"), 1, {})
    answers = [answer_of(name, nothing) for name in QUESTIONS]
    lines = overview([each for each in answers if each is not None])
    assert [line.name for line in lines] == [
        "Q1",
        "Q2",
        "Q3",
        "Q4",
        "Q4, held-out",
        "Q4, ramp",
        "Q5",
        "Q6, confirm",
        "Q7",
        "Q8",
        "Q9",
        "Q10",
        "Q11",
    ]
    assert not {YES, NO} & {word for line in lines for word, _ in line.answer}
    assert all(part.brief for line in lines for part in line.parts if part.word == OPEN)
