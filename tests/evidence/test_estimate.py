"""The estimate of a plan adds up what a probe measured."""

import pytest

from fedsemi.evidence.estimate import Pace


def test_a_stage_is_its_start_its_other_rounds_and_its_tests():
    pace = Pace(start=10, round=2, test=0.5)
    assert pace.seconds(rounds=60, every=3) == pytest.approx(10 + 59 * 2 + 20 * 0.5)


def test_the_last_round_is_tested_even_if_it_is_not_due():
    pace = Pace(start=0, round=0, test=1)
    assert [pace.seconds(rounds, every=3) for rounds in (1, 3, 4, 6)] == [1, 1, 2, 2]


def test_a_stage_without_rounds_takes_no_time():
    assert Pace(start=10, round=2, test=1).seconds(rounds=0, every=1) == 0
