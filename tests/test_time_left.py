"""The estimate of the time left, on timings made up for the purpose."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedsemi.messages import ClientInfo
from fedsemi.time_left import TimeLeft, work_of_round

SITES = [ClientInfo(0, 100, 0), *(ClientInfo(id, 0, 100) for id in range(1, 10))]


def work(**changes):
    defaults = {"supervised": False, "epochs": 1, "num_tested": 0, "workers": 1}
    return work_of_round(SITES, **defaults | changes)


def test_a_supervised_round_costs_two_views_of_each_label():
    assert work(supervised=True) == 200
    assert work() == pytest.approx(200 + 900 * 1.27)


def test_one_labeled_client_is_no_faster_with_more_workers():
    assert work(supervised=True, workers=4) == 200
    assert work(workers=2) == pytest.approx((200 + 900 * 1.27) / 2)


def test_epochs_multiply_learning_but_not_testing():
    assert work(epochs=3, num_tested=1000) == pytest.approx(3 * work() + 270)


def left_after(durations, rounds, costs):
    """Let rounds pass, given as (stage, seconds); return what is left after each."""
    now = 0.0
    estimate = TimeLeft(rounds, costs, clock=lambda: now)
    left, done = [], [0] * len(rounds)
    for stage, seconds in durations:
        now += seconds
        done[stage] += 1
        estimate.tick(stage, seconds)
        left.append(estimate.seconds(stage, done[stage]))
    return left


@given(
    st.lists(st.floats(0.9, 1.1), min_size=10, max_size=10),
    st.lists(st.floats(0.9, 1.1), min_size=20, max_size=20),
    st.floats(1, 5),
)
def test_after_three_rounds_it_is_right_within_a_fifth(first, second, slower):
    # Rounds vary by a tenth, stage 1 is slower than stage 0 as the work says, and the
    # first round of each stage takes as long as three.
    warm, main = [3.0, *first[1:]], [slower * s for s in (3.0, *second[1:])]
    durations = [*((0, s) for s in warm), *((1, s) for s in main)]
    left = left_after(durations, rounds=[10, 20], costs=[1.0, slower])
    truth = sum(warm[3:]) + sum(main)
    assert abs(left[2] - truth) <= 0.2 * truth


def test_a_stage_corrects_a_wrong_guess_of_its_work():
    durations = [(0, 1.0)] * 10 + [(1, 7.0)] * 3
    left = left_after(durations, rounds=[10, 20], costs=[1.0, 2.0])
    assert left[2] == pytest.approx(7 + 2 * 20)
    assert left[-1] == pytest.approx(7 * 17)


def test_rounds_with_a_test_count_in_their_proportion():
    durations = [(0, 3.0 if n % 3 == 2 else 1.0) for n in range(1, 8)]
    assert left_after(durations, [31], [1.0])[-1] == pytest.approx(24 * 10 / 6)


def test_the_start_of_workers_is_not_taken_for_a_slow_round():
    now = 60.0
    estimate = TimeLeft([5], [1.0], clock=lambda: now)
    now = 100.0
    estimate.tick(0, learning=2.0)
    assert estimate.seconds(0, 1) == pytest.approx(8)


def test_nothing_is_left_after_the_last_round():
    assert left_after([(0, 1.0), (0, 2.0)], [2], [1.0])[-1] == 0
