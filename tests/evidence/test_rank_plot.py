"""The picture of ranks: everybody is on it, and joined as the test says."""

from __future__ import annotations

from xml.etree import ElementTree

from fedsemi.evidence.rank_plot import rank_plot
from fedsemi.evidence.ranking import Ranking

FOUND = Ranking(("a", "<b>", "c", "d"), (1.0, 1.5, 3.0, 4.0), 14, 0.001)


def test_every_method_has_its_name_and_rank() -> None:
    texts = [each.text for each in ElementTree.fromstring(rank_plot(FOUND)).iter()]
    for name, rank in zip(FOUND.names, FOUND.ranks, strict=True):
        assert f"{name}  {rank:.2f}" in texts


def test_a_bar_joins_each_group() -> None:
    assert rank_plot(FOUND).count('stroke-width="4"') == len(FOUND.groups) == 2


def test_a_difference_beyond_the_axis_is_said_and_not_drawn() -> None:
    few = Ranking(("a", "b", "c"), (1.0, 2.0, 3.0), 2, None)
    assert "longer than the axis" in rank_plot(few)
    assert "critical difference 1.25, 14 seeds" in rank_plot(FOUND)


def test_one_seed_tests_nothing_and_no_seed_draws_nothing() -> None:
    assert "nothing is tested" in rank_plot(Ranking(("a", "b"), (1.0, 2.0), 1, None))
    assert rank_plot(Ranking((), (), 0, None)) == ""
