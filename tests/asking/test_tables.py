"""Tables, worked by hand: intervals by Student's t with two degrees of freedom."""

from __future__ import annotations

from pathlib import Path

import pytest

from fedsemi.asking.tables import (
    as_csv,
    as_markdown,
    as_svg,
    lines_of,
    scale,
    sentences,
    write_tables,
)

from .made import made, three_seeds

T = 4.302653
"""The 97.5 % point of Student's t with two degrees of freedom."""


def test_differences_are_paired_by_seed() -> None:
    lines = {(line.rule, line.budget): line for line in lines_of(three_seeds())}
    ahead = lines["coverage", 20].ahead
    assert ahead is not None
    # 2, 3, 4: mean 3, standard deviation 1, so 3 ± T / √3 = 3 ± 2.48.
    assert (ahead.mean, ahead.low) == (pytest.approx(3), pytest.approx(3 - T / 3**0.5))
    assert lines["random", 20].ahead is None
    # 50, 52, 54: mean 52, standard deviation 2.
    start = lines["nobody asked", 0].score
    assert (start.mean, start.high) == (
        pytest.approx(52),
        pytest.approx(52 + 2 * T / 3**0.5),
    )


def test_the_table_has_a_line_for_each_rule_the_control_last() -> None:
    _, _, *rows = as_markdown(three_seeds()).splitlines()
    assert rows == [
        "| 0 | nobody asked | 52.0 ± 5.0 |  |  |",
        "| 20 | coverage | 64.0 ± 5.0 | +3.0 | +0.5 to +5.5 |",
        "| 20 | balance | 61.0 ± 23.7 | +0.0 | −21.2 to +21.2 |",
        "| 20 | random | 61.0 ± 2.5 |  |  |",
    ]


def test_it_is_said_plainly_whether_a_rule_beats_random() -> None:
    coverage, balance, worth = sentences(three_seeds())
    assert coverage == "coverage: beats random at 20 labels."
    assert balance == (
        "balance: does not beat random at any budget; no difference is decided."
    )
    # 10, 9, 8 points more than nobody asked.
    assert worth == (
        "20 labels at random against none: +9.0 points (95 % interval +6.5 to +11.5)."
    )


def test_a_rule_that_is_worse_is_called_so() -> None:
    records = [
        made(
            n,
            base=50,
            random_9=60 + n,
            coverage_9=50 + n,
            random_30=60,
            coverage_30=60 + n % 2,
        )
        for n in (1, 2, 3)
    ]
    assert sentences(records)[0] == (
        "coverage: is worse than random at 9 labels, at 30 nothing is decided."
    )


def test_one_seed_decides_nothing() -> None:
    first, _, worth = sentences(three_seeds()[:1])
    assert first == "coverage: one seed decides nothing."
    assert worth.endswith("+10.0 points.")
    assert "| 62.0 | +2.0 | one seed |" in as_markdown(three_seeds()[:1])


def test_a_line_that_lacks_seeds_says_so() -> None:
    records = [*three_seeds(), made(4, base=50)]
    assert "| 20 | random | 61.0 ± 2.5 (n = 3) |" in as_markdown(records)


def test_the_scale_says_how_large_the_experiment_was() -> None:
    said = scale(three_seeds())
    assert "300 training images at 5 sites" in said
    assert "57 to 60 labels at 1 of them" in said
    assert "30 rounds of supervised and 4 rounds of semianagg" in said
    assert "resnet8 of width 8;" in said
    assert "3 seeds" in said


def test_the_scale_says_that_an_encoder_is_pretrained() -> None:
    record = made(1, base=50)
    model = {"name": "efficientnet-lite0", "encoder": {"weights": "a.safetensors"}}
    record.config = record.config | {"model": model}
    assert "efficientnet-lite0 with pretrained weights, frozen;" in scale([record])


def test_a_folder_has_words_numbers_and_a_plot(tmp_path: Path) -> None:
    write_tables(tmp_path, three_seeds())
    assert "- coverage: beats random" in (tmp_path / "curve.md").read_text()
    assert as_csv(three_seeds()).splitlines()[2] == "1,coverage,20,77,0.5,0.62,,20 0"
    assert (tmp_path / "curve.svg").read_text() == as_svg(three_seeds())
