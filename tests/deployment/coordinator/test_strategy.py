from __future__ import annotations

from collections import Counter

import pytest

pytest.importorskip("flwr")

from flwr.app import ArrayRecord

from fedsemi.deployment.coordinator.strategy import MethodStrategy
from fedsemi.deployment.one_machine.loopback import LoopbackGrid
from fedsemi.deployment.one_machine.simulate import dealt
from fedsemi.errors import ConfigError, ProtocolError
from fedsemi.privacy.steps import STEPS
from fedsemi.simulation.run import run_simulation
from fedsemi.weights import digest

from ..conftest import tiny


class Counting(LoopbackGrid):
    """Counts the messages of each type."""

    def __init__(self, *given):
        super().__init__(*given)
        self.sent = Counter()

    def push_messages(self, messages):
        messages = list(messages)
        self.sent.update(message.metadata.message_type for message in messages)
        return super().push_messages(messages)


@pytest.mark.parametrize(
    ("method", "flower_rounds"),
    # CBAFed asks for class counts first; Flower counts that phase as a round.
    [("semianagg", 2), ("cbafed", 3)],
)
def test_flowers_own_loop_gives_the_same_bits(method, flower_rounds):
    simulation = tiny(method)
    steps = list(run_simulation(simulation))
    with dealt(simulation) as app:
        strategy = MethodStrategy(simulation, stage=1, num_sites=3)
        begin = ArrayRecord(steps[0].weights)
        grid = Counting(app, 3)
        result = strategy.start(grid, begin, flower_rounds)
    found = result.arrays.to_torch_state_dict()
    assert digest(found) == digest(steps[-1].weights)
    assert grid.sent["query"] == 3  # each site is asked once who it is


def test_a_masked_round_under_flowers_own_loop_gives_the_same_bits():
    """Of its eight steps the first one alone brings a model, and leaves a memory."""
    simulation = tiny(
        privacy={"masked": True},
        partition={"num_clients": 4, "scheme": "iid"},
        guard={"enabled": False},
        stages=[{"method": "semianagg", "rounds": 2}],
    )
    *_, last = run_simulation(simulation)
    with dealt(simulation) as app:
        strategy = MethodStrategy(simulation, stage=0, num_sites=4)
        begin = strategy.initial_arrays()
        result = strategy.start(LoopbackGrid(app, 4), begin, 2 * len(STEPS))
    assert digest(result.arrays.to_torch_state_dict()) == digest(last.weights)
    assert not strategy.done.skipped


def test_a_strange_reply_does_not_end_flowers_own_loop(simulation):
    class Strange(LoopbackGrid):
        def answer(self, message):
            reply = super().answer(message)
            meta = message.metadata
            if meta.dst_node_id == 3 and meta.message_type == "train":
                reply.content["metrics"]["patient"] = 1.0
            return reply

    with dealt(simulation) as app:
        strategy = MethodStrategy(simulation, stage=1, num_sites=3)
        result = strategy.start(Strange(app, 3), strategy.initial_arrays(), 1)
    (dropped,) = strategy.done.dropped
    assert (dropped.client, dropped.code) == (2, "FS2120")
    assert set(result.train_metrics_clientapp[1]) == {
        "contribution-0",
        "contribution-1",
    }


def test_an_answer_in_the_name_of_another_site_counts_against_its_sender(simulation):
    class Forging(LoopbackGrid):
        def answer(self, message):
            reply = super().answer(message)
            meta = message.metadata
            if meta.dst_node_id == 3 and meta.message_type == "train":
                reply.content["update"]["client"] = 0
            return reply

    with dealt(simulation) as app:
        strategy = MethodStrategy(simulation, stage=1, num_sites=3)
        strategy.start(Forging(app, 3), strategy.initial_arrays(), 1)
    (dropped,) = strategy.done.dropped
    assert (dropped.client, dropped.code) == (2, "FS2106")
    assert [update.client for update in strategy.done.updates] == [0, 1]


def test_a_method_that_asks_a_client_twice_is_refused_with_a_remedy():
    simulation = tiny("rscfed")
    with dealt(simulation) as app:
        strategy = MethodStrategy(simulation, stage=1, num_sites=3)
        with pytest.raises(ProtocolError, match=r"FS2114 'rscfed' .*fedsemi server"):
            strategy.start(LoopbackGrid(app, 3), strategy.initial_arrays(), 1)


def test_a_running_mean_that_nobody_would_keep_is_refused():
    evaluation = {"running_mean": 0.85, "delivers": "running-mean"}
    with pytest.raises(ConfigError, match=r"FS4105 .*fedsemi server"):
        MethodStrategy(tiny(evaluation=evaluation), stage=1, num_sites=3)


@pytest.mark.parametrize(
    "privacy",
    [
        {"statistics_noise": 1.0},
        {"statistics_noise": 1.0, "budget_epsilon": 5.0},
        {"noise_multiplier": 1.0, "statistics_noise": 1.0},
    ],
)
def test_noise_whose_account_nobody_would_keep_is_refused(privacy):
    simulation = tiny(privacy=privacy, guard={"enabled": False})
    with pytest.raises(ConfigError, match=r"FS6110 .*account.*fedsemi server"):
        MethodStrategy(simulation, stage=1, num_sites=3)


@pytest.mark.parametrize("action", ["lower-share", "roll-back"])
def test_alarms_that_nobody_would_act_on_are_refused(action):
    simulation = tiny(
        alarms={"action": action}, evaluation={"validation_fraction": 0.3}
    )
    with pytest.raises(ConfigError, match=r"FS4111 .*alarms\.action"):
        MethodStrategy(simulation, stage=1, num_sites=3)
