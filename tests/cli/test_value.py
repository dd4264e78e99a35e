"""What `fedsemi value` prints."""

from __future__ import annotations

from io import StringIO
from typing import Any

from fedsemi.cli.value import worth
from fedsemi.text.screen import Screen
from fedsemi.valuation.measure import NAMES


def result(values: dict[int, float]) -> dict[str, Any]:
    rows = [
        {"client": id, "value": value, "low": value - 1, "high": value + 1}
        for id, value in values.items()
    ]
    agree = {"clients": 9, "rho": 0.5, "low": -0.25, "high": 1.0, "p": 0.125}
    pair = {"a": NAMES[0], "b": NAMES[-1]}
    return {
        "scored_on": "held-out labels",
        "measures": [{"name": name, "about": "", "values": rows} for name in NAMES],
        "correlations": [
            pair | agree,
            pair | dict.fromkeys(agree, None) | {"clients": 9},
        ],
    }


def printed(content: dict[str, Any], sites: dict[int, str] | None = None) -> list[str]:
    console = Screen(file=StringIO(), width=80)
    console.print(worth(content, sites or {}))
    assert isinstance(console.file, StringIO)
    return console.file.getvalue().splitlines()


def test_all_measures_fit_into_eighty_columns() -> None:
    lines = printed(result({0: 12.3456, 9: -0.25}))
    names = ["client", "share", "images", "marginal", "Shapley", "warm", "full"]
    assert lines[1].split() == names
    assert "…" not in "".join(lines)
    assert lines[3].split() == ["9", *["-0.2500"] * 6]


def test_a_value_whose_interval_leaves_out_zero_is_marked() -> None:
    lines = printed(result({1: 1.5, 2: 0.5}))
    rows = {line.split()[0]: line for line in lines}
    assert rows["1"].count("+1.5000*") == 6
    assert "*" not in rows["2"]


def test_measures_that_are_equal_for_all_have_no_correlation_to_print() -> None:
    lines = [line.split() for line in printed(result({1: 0.0}))]
    assert ["share", "–", "left", "out,", "full", "9", "–", "–", "–"] in lines
    assert any(line[-5:] == ["0.50", "-0.25", "to", "1.00", "0.125"] for line in lines)


def test_two_clients_are_too_few_for_rank_correlations() -> None:
    content = result({0: 1.0, 1: 2.0})
    for pair in content["correlations"]:
        pair |= {"clients": 2, "rho": None}
    text = "\n".join(printed(content))
    assert "rank correlations need 3 unlabeled clients; there are 2" in text
    assert "–" not in text


def test_clients_with_names_are_named() -> None:
    lines = printed(result({0: 1.0, 1: 2.0}), {0: "hospital-a", 1: "[b]"})
    assert lines[-1] == "client 0 = hospital-a, client 1 = [b]"
