from __future__ import annotations

import time
from functools import partial

import pytest
import torch

pytest.importorskip("flwr")

from flwr.app import ConfigRecord, Error, Message, MetricRecord, RecordDict

from fedsemi.client.findings import sizes_of
from fedsemi.client.wire import USUAL_METRICS, Declared
from fedsemi.deployment.codec import decode_update, encode_update
from fedsemi.deployment.coordinator.post import exchange
from fedsemi.deployment.one_machine.loopback import LoopbackGrid
from fedsemi.messages import Update

_FORGED = "gone\n2026-01-01 site 9 joined\x1b[2J\u202e"
_SHOWN = "gone\\n2026-01-01 site 9 joined\\x1b[2J\\u202e"
_LIMIT = 100_000
_DECLARED = Declared(USUAL_METRICS, sizes_of(3))


def _update(**changes):
    return Update(0, 0, {"w": torch.ones(3)}, 1, 2, metrics={"loss": 1.0}, **changes)


class Answering(LoopbackGrid):
    """Node 2 answers with `content` or fails as it says, the others honestly."""

    def __init__(self, content=None, error=None, raises=None):
        super().__init__(None, 3)
        self._content, self._error, self._raises = content, error, raises

    def answer(self, message):
        if message.metadata.dst_node_id != 2 or self._raises:
            return Message(encode_update(_update()), reply_to=message)
        if self._error:
            return Message(Error(1, self._error), reply_to=message)
        return Message(self._content, reply_to=message)

    def pull_messages(self, message_ids):
        replies = list(super().pull_messages(message_ids))
        for reply in replies:
            if self._raises and reply.metadata.src_node_id == 2:
                raise self._raises
        return replies


def _exchange(grid):
    letters = {f"site {n}": (n, RecordDict()) for n in (1, 2, 3)}
    decode = partial(decode_update, limit=_LIMIT, declared=_DECLARED)
    soon = time.monotonic() + 30
    return exchange(grid, letters, "train", decode, soon, _LIMIT)


@pytest.mark.parametrize(
    "error", [RuntimeError(), MemoryError(), RecursionError(), KeyError("x"), OSError()]
)
def test_one_reply_that_cannot_be_read_does_not_lose_the_others(error):
    post = _exchange(Answering(raises=error))
    assert sorted(post) == ["site 1", "site 3"]
    kind = type(error).__name__
    assert str(post.refused["site 2"]) == f"FS2105 the answer is unreadable ({kind})"


def test_what_a_reply_says_of_itself_does_not_make_it_another_sites():
    class Claiming(Answering):
        def answer(self, message):
            reply = super().answer(message)
            if message.metadata.dst_node_id == 2:
                reply.metadata.__dict__["_reply_to_message_id"] = self.first
                reply.metadata.__dict__["_src_node_id"] = 1
            else:
                self.first = message.metadata.message_id
            return reply

    spoiled = encode_update(_update(num_pseudo=7))
    post = _exchange(Claiming(spoiled))
    assert {key: update.num_pseudo for key, update in post.items()} == {
        "site 1": 0,
        "site 2": 7,
        "site 3": 0,
    }


def _with_metrics(metrics):
    content = encode_update(_update())
    content["metrics"] = MetricRecord(metrics)
    return content


@pytest.mark.parametrize(
    ("metrics", "refusal"),
    [
        ({f"m{i}": 1.0 for i in range(200_000)}, "FS2105 the answer holds 2,"),
        ({"x" * 5_000_000: 1.0}, "FS2105 the answer holds 5,"),
        ({"loss": [1.0] * 250_000}, "FS2105 the answer holds 2,"),
        ({"patient": 1.0}, "FS2120 the metric 'patient' is not one that"),
        ({"\x1b[2J\n": 1.0}, r"FS2120 the metric '\x1b[2J\n' is not one that"),
        ({"loss": float("nan")}, "FS2101 the metric 'loss' is no number"),
        ({"loss": [1.0]}, "FS2101 the metric 'loss' is no number"),
    ],
)
def test_metrics_are_few_declared_and_finite(metrics, refusal):
    post = _exchange(Answering(_with_metrics(metrics)))
    assert str(post.refused["site 2"]).startswith(refusal)
    assert sorted(post) == ["site 1", "site 3"]


@pytest.mark.parametrize("what", ["reason", "error", "record"])
def test_nothing_that_a_site_writes_reaches_a_log_raw(what):
    grids = {
        "reason": Answering(
            RecordDict({"failure": ConfigRecord({"reason": _FORGED + "x" * 10**6})})
        ),
        "error": Answering(error=_FORGED + "x" * 10**6),
        "record": Answering(
            RecordDict({**encode_update(_update()), _FORGED: ConfigRecord()})
        ),
    }
    refusal = str(_exchange(grids[what]).refused["site 2"])
    assert _SHOWN in refusal
    assert refusal.isprintable() and len(refusal) < 400


def test_a_failure_that_is_no_failure_record_is_refused():
    post = _exchange(Answering(RecordDict({"failure": MetricRecord({"a": 1})})))
    assert post.refused["site 2"].code == "FS2101"
