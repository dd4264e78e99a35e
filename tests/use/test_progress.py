"""What a person sees of a round."""

from __future__ import annotations

from io import StringIO
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedsemi.client.evaluate import Metrics
from fedsemi.runs.records import ClientRecord, Rejection, RoundRecord, Spent
from fedsemi.simulation.build import Simulation
from fedsemi.text.screen import Screen
from fedsemi.use.progress import (
    Progress,
    bar,
    client_table,
    duration,
    given_away,
    incidents,
)


def client(contribution: float, **more: Any) -> ClientRecord:
    values: dict[str, Any] = {"num_labeled": 0, "num_unlabeled": 0, "num_pseudo": 0}
    values |= {"diversity": None, "pseudo_label_accuracy": None}
    values |= {"pseudo_label_estimate": None, "bytes_sent": 0, "metrics": {}}
    return ClientRecord(contribution=contribution, **(values | more))


def record(**more: Any) -> RoundRecord:
    values: dict[str, Any] = {"stage": 0, "method": "supervised", "round": 1}
    values |= {"rounds": 2, "seconds": 3.0, "test": None, "validation": None}
    return RoundRecord(**(values | {"clients": {}} | more))


def printed(what: Any) -> list[str]:
    console = Screen(file=StringIO(), width=100)
    console.print(what)
    assert isinstance(console.file, StringIO)
    return [" ".join(line.split()) for line in console.file.getvalue().splitlines()]


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.4, "0 s"),
        (59.4, "59 s"),
        (59.6, "1 min 00 s"),
        (3599.6, "1 h 00 min"),
        (7 * 3600 + 59, "7 h 00 min"),
    ],
)
def test_seconds_are_rounded_before_they_are_cut_into_minutes_and_hours(
    seconds: float, text: str
) -> None:
    assert duration(seconds) == text


def test_a_bar_is_drawn_in_eighths() -> None:
    assert bar(0.5, 4) == "██" and bar(0.0, 4) == "" and bar(1 / 32, 4) == "▏"
    assert bar(0.25 + 3 / 32, 4) == "█▍"


@given(st.floats(-2, 2), st.integers(1, 40))
def test_a_bar_is_never_longer_than_its_place(share: float, width: int) -> None:
    assert len(bar(share, width)) <= width


def test_a_client_shows_what_it_has_and_a_dash_for_what_it_has_not() -> None:
    clients = {
        0: client(0.5, num_labeled=1200),
        3: client(0.25, num_unlabeled=80, num_pseudo=60, pseudo_label_accuracy=0.875),
        4: client(0.0, num_unlabeled=5),
    }
    _, labeled, unlabeled, silent = printed(client_table(record(clients=clients)))
    assert labeled == "0 1,200 – – – 50.0% ██████████"
    assert unlabeled == "3 – 80 60 88% 25.0% █████"
    assert silent == "4 – 5 0 – 0.0%"


def test_a_round_in_which_nobody_counts_has_empty_bars() -> None:
    lines = printed(client_table(record(clients={0: client(0.0, num_labeled=1)})))
    assert lines[1] == "0 1 – – – 0.0%"


def test_what_masks_hide_is_called_hidden_and_not_zero() -> None:
    clients = {0: client(0.0, num_labeled=1), 4: client(0.0, num_unlabeled=5)}
    told = printed(client_table(record(clients=clients, hidden=True)))
    assert told[1:] == ["0 1 – – – hidden", "4 – 5 hidden – hidden"]


def test_replies_that_were_not_used_are_named_with_their_code() -> None:
    assert incidents(record(asked=3, used=3)) == ""
    dropped = (Rejection(2, 0, "FS2103", "nan"), Rejection(None, 0, "FS2105", "?"))
    assert incidents(record(asked=3, used=1, dropped=dropped)) == (
        " 1/3 used, 2 dropped (client 2: FS2103, client ?: FS2105)"
    )
    assert incidents(record(asked=3, skipped=True)) == " round skipped"


def test_where_there_is_no_terminal_each_round_is_a_line(
    simulation: Simulation,
) -> None:
    console = Screen(file=StringIO(), width=40)
    with Progress(simulation, "mine", console) as progress:
        progress.show(record())
        progress.show(record(round=2, stage=1, method="semianagg"))
    assert isinstance(console.file, StringIO)
    first, second = console.file.getvalue().splitlines()
    assert first.startswith(
        "mine: stage 1/2 supervised round 1/2 accuracy – 3.0 s left"
    )
    assert second.endswith("left 0 s") and "stage 2/2 semianagg round 2/2" in second


def scored(accuracy: float, **more: Any) -> RoundRecord:
    return record(test=Metrics(accuracy, accuracy, None, 0.5, 0.5, ()), **more)


def lines_of(simulation: Simulation, *records: RoundRecord, **before: Any) -> list[str]:
    console = Screen(file=StringIO(), width=400)
    with Progress(simulation, "mine", console) as progress:
        progress.remember(before.get("done", []), before.get("alone", {}))
        for each in records:
            progress.show(each)
    assert isinstance(console.file, StringIO)
    return console.file.getvalue().splitlines()


def test_accuracy_has_its_trend_within_the_stage_and_the_warm_up_beside_it(
    simulation: Simulation,
) -> None:
    warm_up = [scored(value) for value in (0.1, 0.11, 0.5, 0.51)]
    now = scored(0.4, stage=1, method="semianagg", round=1)
    *_, risen, begun = lines_of(simulation, *warm_up, now)
    assert "accuracy 51.00% ↑ 3.0 s" in risen
    assert "accuracy 40.00% (warm-up 51.00%) 3.0 s" in begun


def test_the_same_round_on_labels_alone_stands_beside_a_round(
    simulation: Simulation,
) -> None:
    now = scored(0.4, stage=1, method="semianagg", round=1)
    alone = {1: 0.1, 3: 0.375, 4: 0.9}
    (line,) = lines_of(simulation, now, done=[scored(0.2)], alone=alone)
    assert "accuracy 40.00% (labels alone 37.50%) 3.0 s" in line


def test_a_file_gets_no_control_codes(simulation: Simulation) -> None:
    assert all(line.isprintable() for line in lines_of(simulation, scored(0.4)))


def test_on_a_terminal_one_screen_is_redrawn_and_then_gone(
    simulation: Simulation,
) -> None:
    console = Screen(file=StringIO(), width=120, force_terminal=True)
    with Progress(simulation, "a[b]\n", console) as progress:
        progress.show(record(clients={7: client(1.0, num_labeled=3)}))
    assert isinstance(console.file, StringIO)
    text = console.file.getvalue()
    assert "a[b]\\n" in text and "round 1/2" in text and "100.0%" in text


def test_what_was_given_away_is_told_with_what_it_covers() -> None:
    assert given_away(record()) == ""
    whole = record(privacy=Spent(3.2101, 1e-5, 0.8, "model"))
    assert given_away(whole) == " ε 3.21"
    part = record(privacy=Spent(0.5, 1e-5, 0.02, "statistics"))
    assert given_away(part) == " ε 0.5 of statistics alone"
