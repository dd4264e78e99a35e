from __future__ import annotations

import json
import tracemalloc

import pytest
import torch

pytest.importorskip("flwr")

from fedsemi.deployment.codec import decode_update, encode_update
from fedsemi.deployment.coordinator.inbox import Inbox
from fedsemi.deployment.coordinator.post import Refusal, read
from fedsemi.errors import ProtocolError
from fedsemi.messages import Update

from ..fake_link import QUESTION, FakeLink

_UPDATE = Update(2, 0, {"w": torch.arange(250_000.0)}, 3, 4)
_LIMIT = 1_100_000


@pytest.fixture
def link():
    return FakeLink(encode_update(_UPDATE))


def _taken(link, limit):
    inbox = Inbox(link.grid(), limit)
    inbox.look([QUESTION])
    return inbox.take(QUESTION)


def _part(link, kind):
    """Find the largest part of a kind: the weights' one."""
    ours = [id for id, part in link.parts.items() if part.startswith(kind + b" ")]
    return max(ours, key=lambda id: len(link.parts[id]))


def test_a_reply_arrives_whole_and_the_superlink_may_forget_it(link):
    reply = _taken(link, _LIMIT)
    found = decode_update(reply.content)
    assert torch.equal(found.weights["w"], _UPDATE.weights["w"])
    assert link.confirmed == 1


def test_a_part_that_was_announced_and_never_comes_keeps_nobody(link):
    """Flower's own call would wait for it, for up to two hours."""
    missing = _part(link, b"ArrayChunk")
    link.missing.add(missing)
    inbox = Inbox(link.grid(), _LIMIT)
    inbox.look([QUESTION])
    assert inbox.take(QUESTION) is None
    assert inbox.take(QUESTION) is None
    link.missing.clear()
    assert inbox.take(QUESTION) is not None


def test_a_part_that_names_the_same_megabyte_a_million_times_is_not_built(link):
    """The bomb: a few bytes of JSON that Flower would make a terabyte of."""
    id = _part(link, b"Array")
    head, _, body = link.parts[id].partition(b"\0")
    bomb = json.loads(body) | {"arraychunk_ids": [0] * 1_000_000}
    link.parts[id] = head + b"\0" + json.dumps(bomb).encode()
    inbox = Inbox(link.grid(), 10_000_000)
    inbox.look([QUESTION])
    tracemalloc.start()
    with pytest.raises(ProtocolError, match="FS2105 the reply holds over"):
        inbox.take(QUESTION)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 50_000_000


def test_a_reply_above_the_limit_is_given_up_while_it_comes(link):
    with pytest.raises(ProtocolError, match="FS2105 the reply holds over 100,000 b"):
        _taken(link, 100_000)
    assert link.confirmed == 1  # the SuperLink need not keep it either


def test_a_reply_in_a_hundred_thousand_parts_is_refused(link):
    link.names = [f"{number:064x}" for number in range(100_000)]
    with pytest.raises(ProtocolError, match=r"FS2105 100,00\d parts"):
        _taken(link, _LIMIT)


@pytest.mark.parametrize("kind", [b"Array", b"ArrayRecord", b"RecordDict", b"Message"])
@pytest.mark.parametrize("body", [b"", b"\xff\xfe", b"[" * 100_000, b"{}", b"7"])
def test_an_object_with_a_garbage_body_is_a_refused_reply(link, kind, body):
    id = _part(link, kind)
    head, _, _ = link.parts[id].partition(b"\0")
    link.parts[id] = head + b"\0" + body
    found = read(lambda: _taken(link, _LIMIT), decode_update)
    assert isinstance(found, Refusal) and found.code in ("FS2105", "FS2101")


def test_a_lost_part_is_a_refused_reply(link):
    del link.parts[_part(link, b"ArrayChunk")]
    with pytest.raises(ProtocolError, match="FS2105 a part of the reply is lost"):
        _taken(link, _LIMIT)


def test_one_question_asks_for_all_replies_and_none_is_asked_for_twice(link):
    asked = []
    pull = link.PullMessages
    link.PullMessages = lambda request: asked.append(1) or pull(request)
    inbox = Inbox(link.grid(), _LIMIT)
    inbox.look([QUESTION])
    inbox.look([QUESTION])
    assert inbox.take("another question") is None
    assert inbox.take(QUESTION) is not None and asked == [1]


def test_a_list_of_parts_that_nobody_can_read_does_not_hide_other_replies(link):
    """Such a list is a site's word, and all lists come in one answer."""
    pull = link.PullMessages

    def one_is_strange(request):
        if "strange" in request.message_ids:
            raise RecursionError("nested too deeply")
        return pull(request)

    link.PullMessages = one_is_strange
    inbox = Inbox(link.grid(), _LIMIT)
    inbox.look(["strange", QUESTION])
    assert inbox.take(QUESTION) is not None
    with pytest.raises(ProtocolError, match="FS2105 its list of parts is unreadable"):
        inbox.take("strange")
