"""Differences as data for a plot, worked by hand."""

from __future__ import annotations

from fedsemi.evidence.effects import Effect
from fedsemi.evidence.interval_plot import ends, interval_plot, with_seeds
from fedsemi.evidence.stats import paired

# Differences 1, 2, 6: a mean of 3, a median of 2, 3 ± 4.3027 * sqrt 7 / sqrt 3.
TEST = paired([1.0, 2.0, 6.0], [0.0] * 3, seeds=[1, 2, 4])
FOUND = Effect("a − b", {"accuracy": TEST, "running_mean.accuracy": None}, planned=5)
MISSING = Effect("c − b", {"accuracy": None, "running_mean.accuracy": None}, planned=5)


def test_what_was_not_run_has_no_line() -> None:
    (plot,) = interval_plot([FOUND, MISSING], "A")
    assert [row["name"] for row in plot["rows"]] == ["a − b"]
    assert interval_plot([MISSING], "A") == []


def test_a_line_has_the_difference_of_each_seed_and_their_median() -> None:
    (plot,) = interval_plot([FOUND], "A")
    assert plot["rows"] == [
        {
            "name": "a − b",
            "group": "global model",
            "value": 3.0,
            "low": -3.57,
            "high": 9.57,
            "seeds": 3,
            "median": 2.0,
            "each": {"1": 1.0, "2": 2.0, "4": 6.0},
        }
    ]
    assert plot["note"].endswith("Each small dot is one seed.")


def test_one_seed_is_its_own_mean_and_needs_no_dot() -> None:
    one = paired([3.0], [1.0])
    assert with_seeds(one) == ends(one)
    assert ends(one) == {"value": 2.0, "low": None, "high": None, "seeds": 1}
