"""A courier between a coordinator that is made up and a desk in this process."""

from __future__ import annotations

from multiprocessing import Pipe
from types import SimpleNamespace

import pytest

pytest.importorskip("flwr")

from flwr.app import ConfigRecord, Message, RecordDict
from flwr.common.serde import message_to_proto
from flwr.supercore.inflatable.inflatable_object import (
    get_all_nested_objects,
    get_object_tree,
)
from flwr.supercore.run import RunNotRunningException

from fedsemi.deployment.site import connection
from fedsemi.deployment.site.connection import Courier
from fedsemi.deployment.site.parcels import Letter, Reply, identify

_NODE, _RUN = 5, 7
_CONFIG = {"plan": "{}", "ticket": "a"}


class Coordinator:
    """Has one letter, and keeps what is sent back."""

    def __init__(self):
        identify(_RUN, 1)
        content = RecordDict({"query": ConfigRecord({"v": 1})})
        self.message = Message(content, _NODE, "query")
        self.message.metadata.__dict__["_message_id"] = self.message.object_id
        nested = get_all_nested_objects(self.message)
        self.parts = {name: each.deflate() for name, each in nested.items()}
        self.tree = get_object_tree(self.message)
        self.letters = [(self.message, self.tree)]
        self.confirmed, self.sent, self.pushed = [], [], {}
        self.asked_for_run = 0

    def callbacks(self):
        return (
            _NODE,
            lambda: self.letters.pop() if self.letters else None,
            self.send,
            self.get_run,
            lambda digest, run: SimpleNamespace(content=b"bundle"),
            lambda run, name: self.parts[name],
            lambda run, session, name, part: self.pushed.update({name: part}),
            lambda run, name: self.confirmed.append(name),
        )

    def get_run(self, run):
        self.asked_for_run += 1
        return SimpleNamespace(fab_hash="", override_config=_CONFIG)

    def send(self, message, outline, seconds):
        self.sent.append(message)
        return set(self.wanted), "session"

    wanted: tuple[str, ...] = ()


@pytest.fixture
def coordinator():
    return Coordinator()


@pytest.fixture
def desk():
    here, there = Pipe()
    with here, there:
        yield here, there


def test_a_letter_comes_to_the_desk_and_its_answer_back(coordinator, desk):
    here, there = desk
    reply = Message(RecordDict(), reply_to=coordinator.message)
    answer = Reply.of(reply)
    coordinator.wanted = tuple(answer.parts)
    here.send(answer)
    Courier(coordinator.callbacks(), there).once()
    letter = here.recv()
    assert here.recv() is True  # it was delivered
    assert isinstance(letter, Letter)
    assert (letter.run, letter.node, letter.bundle) == (_RUN, _NODE, b"bundle")
    assert letter.settings == _CONFIG
    opened = letter.opened()
    assert opened.content["query"]["v"] == 1
    assert opened.metadata.message_id == coordinator.message.object_id
    assert coordinator.confirmed == [coordinator.message.object_id]
    assert coordinator.pushed == answer.parts
    assert message_to_proto(coordinator.sent[0]).metadata.run_id == _RUN


def test_what_a_run_was_told_is_fetched_once(coordinator, desk):
    here, there = desk
    courier = Courier(coordinator.callbacks(), there)
    for _ in range(2):
        coordinator.letters = [(coordinator.message, coordinator.tree)]
        here.send(None)
        courier.once()
    assert coordinator.asked_for_run == 1


def test_a_task_that_ended_without_an_answer_is_reported_as_broken_off(
    coordinator, desk
):
    here, there = desk
    here.send(None)
    Courier(coordinator.callbacks(), there).once()
    assert coordinator.sent[0].has_error()
    assert "has ended" in coordinator.sent[0].error.reason


def test_a_letter_whose_run_is_over_or_whose_part_is_lost_stops_nobody(
    coordinator, desk
):
    for error in (RunNotRunningException(), KeyError("lost")):
        coordinator.letters = [(coordinator.message, coordinator.tree)]

        def get_run(run, error=error):
            raise error

        coordinator.get_run = get_run
        Courier(coordinator.callbacks(), desk[1]).once()
    assert not desk[0].poll() and coordinator.sent == []


def test_a_coordinator_that_holds_no_question_is_not_asked_without_pause(
    coordinator, desk, monkeypatch
):
    monkeypatch.setattr(connection, "_LEAST", 0.05)
    coordinator.letters = []
    courier, paused = Courier(coordinator.callbacks(), desk[1]), []
    monkeypatch.setattr(connection.time, "sleep", paused.append)
    courier.once()  # after a letter the next question in vain is answered at once
    assert paused == []
    courier.once()
    courier.once()
    assert [seconds > 0.04 for seconds in paused] == [True, True]
