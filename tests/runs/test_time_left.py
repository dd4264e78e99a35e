"""The estimate of the time left, on timings made up for the purpose."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedsemi.messages import ClientInfo
from fedsemi.models import ModelSpec
from fedsemi.models.cost import multiply_adds
from fedsemi.runs.time_left import Load, TimeLeft, work_of_round

SITES = [ClientInfo(0, 100, 0), *(ClientInfo(id, 0, 100) for id in range(1, 10))]


def work(supervised=False, **changes):
    return work_of_round(SITES, Load(**changes), supervised=supervised)


def test_a_supervised_round_costs_two_views_of_each_label():
    assert work(supervised=True) == 200
    assert work() == pytest.approx(200 + 900 * 1.27)


def test_one_labeled_client_is_no_faster_with_more_workers():
    assert work(supervised=True, workers=4) == 200
    assert work(workers=2) == pytest.approx((200 + 900 * 1.27) / 2)


def test_epochs_multiply_learning_but_not_testing():
    assert work(epochs=3, num_tested=1000) == pytest.approx(3 * work() + 270)


def test_workers_share_the_test():
    alone, shared = (work(num_tested=n, workers=2) for n in (0, 1000))
    assert shared - alone == pytest.approx(135)


def test_steps_cost_more_views_the_smaller_the_network_is():
    # A step costs 150 of these views, and so does a visit; a client has two steps.
    small = {"multiply_adds": 1e6, "batch_size": 64}
    assert work(supervised=True, **small) == pytest.approx(200 + 3 * 150)
    assert work(**small) == pytest.approx(200 + 900 * 1.27 + 30 * 150)


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


def test_the_first_round_of_a_stage_does_not_upset_the_estimate():
    times = iter([0.0, 1.0, 2.0, 3.0, 60.0])
    estimate = TimeLeft([3, 10], [1.0, 2.0], lambda: next(times))
    for stage, learning in ((0, 1.0), (0, 1.0), (0, 1.0), (1, 50.0)):
        estimate.tick(stage, learning)
    assert estimate.seconds(1, 1) == pytest.approx(9 * 2)


def test_nothing_is_left_after_the_last_round():
    assert left_after([(0, 1.0), (0, 2.0)], [2], [1.0])[-1] == 0


# Recorded: ISIC 2018 at 16x16, resnet8 of width 16, batches of 32, one worker: 60
# rounds of warm-up, then 13 of SemiAnAgg with shares dealt out at random.
WARM_UP = [
    1.59,
    0.43,
    0.47,
    0.42,
    0.47,
    0.43,
    0.44,
    0.41,
    0.41,
    0.42,
    0.41,
    0.41,
    0.41,
    0.41,
    0.4,
    0.41,
    0.43,
    0.41,
    0.48,
    0.41,
    0.42,
    0.46,
    0.4,
    0.41,
    0.4,
    0.4,
    0.41,
    0.4,
    0.39,
    0.38,
    0.39,
    0.39,
    0.42,
    0.41,
    0.41,
    0.42,
    0.41,
    0.41,
    0.41,
    0.42,
    0.4,
    0.4,
    0.4,
    0.42,
    0.41,
    0.41,
    0.4,
    0.42,
    0.41,
    0.45,
    0.43,
    0.41,
    0.41,
    0.4,
    0.38,
    0.39,
    0.4,
    0.4,
    0.39,
    0.39,
]
MAIN = [4.56, 3.92, 4.26, 4.52, 4.77, 4.12, 4.14, 4.05, 4.39, 3.95, 3.89, 3.95, 4.29]
UNLABELED = [725, 376, 92, 507, 454, 1355, 417, 440, 1112]


def test_a_recorded_run_is_estimated_within_a_fifth_after_three_rounds():
    sites = [ClientInfo(0, 522, 0)]
    sites += [ClientInfo(i, 0, n) for i, n in enumerate(UNLABELED, 1)]
    adds = multiply_adds(ModelSpec("resnet8", 10), 16)
    load = Load(batch_size=32, multiply_adds=adds)
    costs = [work_of_round(sites, load, supervised=s) for s in (True, False)]
    durations = [(0, s) for s in WARM_UP] + [(1, s) for s in MAIN]
    left = left_after(durations, [len(WARM_UP), len(MAIN)], costs)
    seconds = [each for _, each in durations]
    for done in (3, 10, 60, 63):
        truth = sum(seconds[done:])
        assert abs(left[done - 1] - truth) <= 0.2 * truth


DIGITS = [98, 157, 143, 154, 180, 153, 176, 98, 115]


@pytest.mark.parametrize(("width", "measured"), [(16, 8.52), (8, 9.11)])
def test_a_round_on_small_images_is_guessed_within_a_tenth(width, measured):
    # Measured: processor time of SemiAnAgg rounds over that of supervised ones.
    sites = [ClientInfo(0, 164, 0)]
    sites += [ClientInfo(i, 0, n) for i, n in enumerate(DIGITS, 1)]
    spec = ModelSpec("resnet8", 10, in_channels=1, width=width)
    load = Load(multiply_adds=multiply_adds(spec, 8))
    first, second = (work_of_round(sites, load, supervised=s) for s in (True, False))
    assert second / first == pytest.approx(measured, rel=0.1)
