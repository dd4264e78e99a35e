"""Two runs side by side."""

from __future__ import annotations

from dataclasses import replace
from io import StringIO

from rich.console import Console

from fedsemi.report.diff import differences, first_difference
from fedsemi.report.run import Run, read_run


def printed(a: Run, b: Run) -> str:
    console = Console(file=StringIO(), width=80)
    console.print(differences(a, b))
    assert isinstance(console.file, StringIO)
    return console.file.getvalue()


def test_runs_part_where_something_measured_differs(make_run) -> None:
    a, b = read_run(make_run("a", rounds=5)), read_run(make_run("b", rounds=5))
    assert first_difference(a, b) == "All 5 rounds are the same to the last digit."
    test = b.records[3].test
    assert test is not None
    other = replace(test, balanced_accuracy=0.75)
    b.records[3] = replace(b.records[3], test=other)
    said = "They part in round 4, counted over all stages: balanced accuracy."
    assert first_difference(a, b) == said


def test_the_same_round_of_another_stage_is_the_same(make_run) -> None:
    a, b = read_run(make_run("a")), read_run(make_run("b"))
    moved = {"stage": 1, "round": 1, "rounds": 7, "seconds": 9.0}
    b.records[2] = replace(b.records[2], **moved)
    assert "are the same to the last digit" in first_difference(a, b)


def test_runs_are_named_by_what_tells_them_apart(make_run) -> None:
    a, b = read_run(make_run("first", seed=1)), read_run(make_run("second", seed=5))
    text = printed(a, b)
    head, row = text.splitlines()[:2]
    assert head.split() == ["setting", "first", "second"]
    assert row.split() == ["seed", "1", "5"]
    assert str(a.path.parent) not in text


def test_a_run_that_has_not_ended_is_not_compared_in_silence(make_run) -> None:
    ended = replace(read_run(make_run("a", rounds=12)), summary={"result": {}})
    other = read_run(make_run("b", rounds=12))
    del other.records[4:]
    text = printed(ended, other)
    assert "The settings are the same." in text
    assert "b has not ended: 4 of 12 rounds, stage 1 of 1." in text
    assert "a has not ended" not in text
    assert "mean of the last 10 and 4 tests" in text


def test_fewer_than_ten_tests_are_counted(make_run) -> None:
    a, b = read_run(make_run("a", rounds=6)), read_run(make_run("b", rounds=6))
    for run in (a, b):
        run.records[2] = replace(run.records[2], test=None)
    assert "mean of the last 5 tests" in printed(a, b)


def test_a_run_without_rounds_is_not_called_the_same(make_run) -> None:
    a, b = read_run(make_run("a")), read_run(make_run("b"))
    b.records.clear()
    text = printed(a, b)
    assert "There is no round that both have." in text
    assert "b has not ended: 0 of 3 rounds, stage 1 of 1." in text
    assert "accuracy after round" not in text
