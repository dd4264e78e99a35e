from __future__ import annotations

import asyncio
import json
import time

import pytest

pytest.importorskip("flwr")

from flwr.proto.fleet_pb2 import PullMessagesRequest
from flwr.proto.node_pb2 import Node
from flwr.proto.runtime_pb2 import PushAppMessagesRequest

from fedsemi.deployment.coordinator.waiting import NEWS, Waiting

_PULL, _LETTERS = "/v1/fleet/pull-messages", "/v1/runtime/push-messages"
_ANSWER = "/v1/fleet/push-object"
_OURS, _THEIRS = b"key of node 5", b"key of another"


class Flower:
    """Has a letter for node 5 when it was given one, and tells who has asked."""

    def __init__(self):
        self.letters = 0
        self.asked = 0

    async def __call__(self, scope, receive, send):
        body = (await receive())["body"]
        said = b""
        if scope["path"] == _LETTERS:
            self.letters += 1
        elif scope["path"] == _PULL:
            self.asked += 1
            if PullMessagesRequest.FromString(body).node.node_id == 5 and self.letters:
                self.letters -= 1
                said = b"a letter"
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": said})


class Caller:
    """Sends requests, and hangs up if told to."""

    def __init__(self, hold=5.0):
        self.flower = Flower()
        self.app = Waiting(self.flower, hold)

    async def ask(self, path, body=b"", signer=_OURS, gone=None):
        said = []

        async def receive():
            await (gone or asyncio.Event()).wait()
            return {"type": "http.disconnect"}

        async def send(message):
            said.append(message)

        scope = {
            "type": "http",
            "path": path,
            "headers": [(b"flwr-public-key", signer)],
        }
        await self.app(scope, body, receive, send)
        return b"".join(message.get("body", b"") for message in said)

    def pull(self, node=5, **options):
        request = PullMessagesRequest(node=Node(node_id=node))
        return self.ask(_PULL, request.SerializeToString(), **options)

    def letter(self, node=5):
        request = PushAppMessagesRequest()
        request.messages_list.add().metadata.dst_node_id = node
        return self.ask(_LETTERS, request.SerializeToString())

    async def news(self, sent, seconds=5.0):
        asked = json.dumps({"sent": sent, "seconds": seconds}).encode()
        return json.loads(await self.ask(NEWS, asked))["sent"]


def _run(course):
    started = time.monotonic()
    asyncio.run(asyncio.wait_for(course, 60))
    return time.monotonic() - started


def test_a_node_that_had_no_letter_is_answered_when_one_comes():
    async def course():
        caller = Caller(hold=60)
        assert await caller.pull() == b""  # the first question is never held
        held = asyncio.create_task(caller.pull())
        await asyncio.sleep(0.05)
        assert not held.done() and caller.flower.asked == 1
        await caller.letter()
        assert await held == b"a letter"

    assert _run(course()) < 30


def test_a_letter_for_another_node_wakes_nobody():
    async def course():
        caller = Caller(hold=0.2)
        await caller.pull()
        held = asyncio.create_task(caller.pull())
        await asyncio.sleep(0.02)
        await caller.letter(node=6)
        await asyncio.sleep(0.02)
        assert not held.done()
        await held

    _run(course())


def test_a_question_that_nothing_answers_ends_after_a_while():
    async def course():
        caller = Caller(hold=0.05)
        assert [await caller.pull() for _ in range(3)] == [b""] * 3
        assert caller.flower.asked == 3

    _run(course())


def test_a_letter_is_not_fetched_for_who_has_hung_up():
    async def course():
        caller, gone = Caller(), asyncio.Event()
        await caller.pull()
        held = asyncio.create_task(caller.pull(gone=gone))
        await asyncio.sleep(0.02)
        gone.set()
        await held
        await caller.letter()
        assert await caller.pull() == b"a letter"

    _run(course())


def test_who_asks_anew_hears_the_answer_and_the_older_question_is_told_so():
    async def course():
        caller = Caller()
        await caller.pull()
        first = asyncio.create_task(caller.pull())
        await asyncio.sleep(0.02)
        second = asyncio.create_task(caller.pull())
        assert b"asked anew" in await first
        await caller.letter()
        assert await second == b"a letter"

    _run(course())


def test_nobody_can_hold_up_a_node_with_another_key():
    async def course():
        caller = Caller(hold=60)
        await caller.pull()
        held = asyncio.create_task(caller.pull())
        await asyncio.sleep(0.02)
        await caller.pull(signer=_THEIRS)  # Flower refuses it; here it says nothing
        assert not held.done()
        await caller.letter()
        assert await held == b"a letter"

    _run(course())


def test_the_run_hears_of_an_answer_when_it_comes_and_not_of_old_ones():
    async def course():
        caller = Caller(hold=60)
        await caller.ask(_ANSWER)
        assert await caller.news(sent=0) == 1
        waits = asyncio.create_task(caller.news(sent=1))
        await asyncio.sleep(0.05)
        assert not waits.done()
        await caller.ask(_ANSWER)
        assert await waits == 2
        assert await caller.news(sent=2, seconds=0.05) == 2

    assert _run(course()) < 30


def test_a_server_that_ends_answers_what_it_holds():
    async def course():
        caller = Caller(hold=60)
        await caller.pull()
        held = asyncio.create_task(caller.pull())
        news = asyncio.create_task(caller.news(sent=0, seconds=60.0))
        await asyncio.sleep(0.02)
        await caller.app.release()
        assert await held == b"" and await news == 1
        assert await caller.pull() == b""

    assert _run(course()) < 30
