"""From answers to what the server sees, with a leak that was planted in a model."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from fedsemi.config.experiment import make_experiment
from fedsemi.data.dataset import Dataset
from fedsemi.leakage.attackers import attack
from fedsemi.leakage.play import EVERYTHING, Play, Side, set_up
from fedsemi.leakage.scene import last_tasks, share_out
from fedsemi.leakage.seen import Form
from fedsemi.messages import DIVERSITY

from .conftest import content

R = f"statistics.{DIVERSITY}"


@pytest.fixture(scope="module")
def play(digits: Dataset) -> Play:
    experiment = make_experiment(content())
    parts = share_out(digits, 1)
    task = last_tasks(experiment, parts.federation)["unlabeled"]
    return set_up(experiment, parts, task, "unlabeled", 22)


def planted(side: Side, play: Play) -> Side:
    """Let the head's bias be the class histogram, and nothing else move."""
    things = dict(side.answers.things)
    things["model"] = np.zeros_like(things["model"])
    things["model"][:, play.layout.places("head.bias")] = side.answers.shares
    return replace(side, answers=replace(side.answers, things=things))


def test_a_leak_that_is_planted_in_the_bias_is_found_whole(play: Play) -> None:
    first, second = (planted(side, play) for side in play.server)
    judged = planted(play.judged, play)
    looks = [
        play.look(side, play.glimpse(side, Form())) for side in (first, second, judged)
    ]
    found = attack(*(look for look, _ in looks), looks[-1][1])
    owned, shared = found["model"]
    assert owned is not None and owned.value == 1.0
    assert shared.value < 0.02 and "head bias" in shared.attacker
    assert found[EVERYTHING][1].value < 0.02


def test_all_things_are_shown_plain_and_only_diversities_as_bits(play: Play) -> None:
    plain = play.glimpse(play.judged, Form()).rows
    assert set(plain) == {"model", "counts", "metrics", R}
    assert np.array_equal(plain["model"], play.judged.answers.things["model"])
    bits = play.glimpse(play.judged, Form(bits=True)).rows
    assert set(bits) == {R} and set(np.unique(bits[R])) <= {0.0, 1.0}


def test_a_sum_shows_the_mean_that_the_method_makes_of_its_group(play: Play) -> None:
    glimpse = play.glimpse(play.judged, Form(3))
    answers, group = play.judged.answers, glimpse.groups[0]
    shares = play.method.contributions([answers.updates[i] for i in group])
    assert shares is not None
    wanted = (answers.things["model"][group] * shares.numpy()[:, None]).sum(0)
    assert glimpse.rows["model"][0] == pytest.approx(wanted, abs=1e-6)
    assert glimpse.rows[R][0] == pytest.approx(answers.things[R][group].sum(0))


def test_noise_is_the_same_again_and_another_for_other_sites(play: Play) -> None:
    noisy = [play.glimpse(side, Form(noise=1.0)).rows["counts"] for side in play.server]
    again = play.glimpse(play.server[0], Form(noise=1.0)).rows["counts"]
    assert np.array_equal(noisy[0], again)
    quiet = [play.glimpse(side, Form()).rows["counts"] for side in play.server]
    assert not np.allclose(noisy[0] - quiet[0], noisy[1] - quiet[1])
