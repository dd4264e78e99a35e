"""Whatever a site sends is an answer or a refused one: real replies, mutated."""

from __future__ import annotations

import json
import math
import os
import random
import re
import resource
import struct
from dataclasses import dataclass

import pytest
from torch import Tensor

pytest.importorskip("flwr")

from flwr.app import Array, ArrayRecord, ConfigRecord, MetricRecord, RecordDict

from fedsemi.client.findings import with_findings
from fedsemi.client.wire import Declared, declared_by
from fedsemi.deployment.codec import (
    Introduction,
    decode_introduction,
    decode_update,
    encode_introduction,
    encode_update,
    num_bytes,
)
from fedsemi.deployment.coordinator.inbox import Inbox
from fedsemi.deployment.coordinator.post import SPARE_BYTES, Refusal, read
from fedsemi.deployment.site.desk import introduction_of
from fedsemi.errors import FedSemiError
from fedsemi.messages import ClientInfo, Task, Update
from fedsemi.server.gate import Gate
from fedsemi.server.gates import gate_of
from fedsemi.state import GateState
from fedsemi.text.printable import printable
from fedsemi.weights import digest

from .conftest import tiny
from .fake_link import QUESTION, FakeLink

CASES = 1_000_000 if os.environ.get("FEDSEMI_TORTURE") else 10_000
MOST_GROWTH = 300 << 20

NUMBERS = [0, 1, -1, 2, 255, 2**31, 2**32, 2**53, 2**62, 2**63 - 1, -(2**63)]
FLOATS = [0.5, math.nan, math.inf, -math.inf, 1e308, -0.0]
TEXTS = [
    "",
    "x",
    "\n",
    "\x1b[2J",
    "\u202e",
    "\udcff"[:0],
    "loss",
    "class_count",
    "é" * 99,
]
SHAPES = [[], [0], [1], [-1], [0, 2**32, 2**32], [2**63], [2**64], [1] * 70, "x", None]
DTYPES = [
    "F64",
    "F32",
    "BF16",
    "F8_E4M3",
    "C64",
    "U64",
    "BOOL",
    "I8",
    "",
    "Q4",
    7,
    None,
]
KINDS = ["Array", "ArrayRecord", "ArrayChunk", "ConfigRecord", "MetricRecord"]
KINDS += ["RecordDict", "Message", "Nothing", "", "\n"]


def parsed(text: bytes) -> object:
    """Read JSON that an earlier mutation may have spoiled."""
    try:
        return json.loads(text)
    except ValueError:
        return {}


class Spoiler:
    """Draws mutations of one reply; the same seed gives the same reply."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.one = self.rng.choice

    def junk(self) -> bytes:
        return self.rng.randbytes(self.one([0, 1, 7, 8, 100]))

    def value(self):
        """Draw anything that a ConfigRecord can hold."""
        flat = [*NUMBERS, *FLOATS, *TEXTS, True, self.junk(), self.text()]
        several = [[1, 2], [0.5], ["a"], [b"a"], [True], []]
        return self.one([*flat, *several])

    def text(self) -> str:
        return self.one(TEXTS) * self.one([1, 1, 2, 1000])

    def bytes(self, data: bytes) -> bytes:
        """Flip, cut, repeat or replace bytes."""
        if not data:
            return self.junk()
        at = self.rng.randrange(len(data))
        return self.one(
            [
                data[:at],
                data[at:],
                data[:at] + bytes([self.rng.randrange(256)]) + data[at + 1 :],
                data[:at] + self.junk() + data[at:],
                data + self.junk(),
                self.junk(),
            ]
        )

    def json(self, tree):
        """Change one place of something that was JSON."""
        odd = [*NUMBERS, *FLOATS, *TEXTS, None, True, [], {}, [[[]]], *SHAPES, *DTYPES]
        if isinstance(tree, dict) and tree and self.rng.random() < 0.85:
            key = self.one(list(tree))
            changed = {**tree, key: self.json(tree[key])}
            if self.rng.random() < 0.1:
                changed[self.text()] = changed.pop(key)
            return changed
        if isinstance(tree, list) and tree and self.rng.random() < 0.5:
            at = self.rng.randrange(len(tree))
            return self.one(
                [
                    [*tree[:at], self.json(tree[at]), *tree[at + 1 :]],
                    tree * self.one([2, 5, 100]),
                    tree[:at],
                ]
            )
        return self.one(odd)

    def tensors(self, data: bytes) -> bytes:
        """Change the header of packed tensors, or their bytes."""
        if self.rng.random() < 0.2:
            return self.bytes(data)
        if self.rng.random() < 0.1:
            return struct.pack("<Q", self.one(NUMBERS) % 2**64) + data[8:]
        size = int.from_bytes(data[:8], "little")
        header = parsed(data[8 : 8 + size])
        if isinstance(header, dict) and self.rng.random() < 0.2:
            parts = {"dtype": self.one(DTYPES), "shape": self.one(SHAPES)}
            header[self.text()] = parts | {"data_offsets": [0, 0]}
        else:
            header = self.json(header)
        packed = json.dumps(header, allow_nan=True).encode()
        return struct.pack("<Q", len(packed)) + packed + data[8 + size :]

    def array(self, array: Array) -> Array:
        if self.rng.random() < 0.8:
            data = self.tensors(array.data)
            return Array(array.dtype, array.shape, array.stype, data)
        shape = (self.one(NUMBERS),) * self.one([0, 1, 9])
        return Array(self.text(), shape, self.text(), array.data)

    def record(self, record):
        """Change one entry of a record."""
        entries = dict(record)
        key = self.one(list(entries)) if entries else "loss"
        choice = self.rng.randrange(4)
        if choice == 0:
            entries.pop(key, None)
        elif choice == 1 and entries:
            entries[self.text()] = entries[key]
        elif isinstance(record, ArrayRecord):
            if entries:
                entries[key] = self.array(entries[key])
        elif isinstance(record, MetricRecord):
            odd = [*NUMBERS, *FLOATS, [1, 2], [math.nan], []]
            if isinstance(entries.get(key), list) and entries[key]:
                same = [float(number) for number in entries[key]]
                same[self.rng.randrange(len(same))] = self.one([*FLOATS, 1e6, -1.0])
                odd += [same] * len(odd)
            entries[key] = self.one(odd)
        else:
            entries[key] = self.value()
        return type(record)(entries)

    def content(self, content: RecordDict) -> RecordDict:
        """Change some records: their entries, names, kinds or number."""
        records = dict(content)
        for _ in range(self.one([1, 1, 2, 3])):
            if not records:
                break
            name = self.one(list(records))
            choice = self.rng.randrange(10)
            if choice == 0:
                del records[name]
            elif choice == 1:
                records[self.one(["images", "failure", self.text()])] = records[name]
            elif choice == 2:
                records[name] = self.one(list(records.values()))
            elif choice == 3:
                odd = [ConfigRecord(), MetricRecord(), ArrayRecord()]
                records[name] = self.one([*odd, ConfigRecord({"reason": self.value()})])
            else:
                records[name] = self.record(records[name])
        return RecordDict(records)

    def parts(self, link: FakeLink) -> None:
        """Change the objects that Flower carries a reply in."""
        id = self.one(list(link.parts))
        head, _, body = link.parts[id].partition(b"\0")
        kind, children, size = (*head.split(b" "), b"", b"", b"")[:3]
        choice = self.rng.randrange(8)
        if choice == 0:
            del link.parts[id]
        elif choice == 1:
            link.names = self.one([[], link.names * 2, link.names[:2], ["0" * 64]])
        elif choice == 2:
            kind = self.one(KINDS).encode()
        elif choice == 3:
            children = self.one([b"", b"x", children + b"," + children, children[:64]])
        elif choice == 4:
            size = str(self.one(NUMBERS)).encode()
        elif choice == 5 and body[:1] == b"{":
            body = json.dumps(self.json(parsed(body))).encode()
        else:
            body = self.bytes(body)
        if choice > 1:
            link.parts[id] = b" ".join((kind, children, size)) + b"\0" + body


@dataclass
class Scene:
    """A real task with the reply to it, as it is sent and as it is carried."""

    task: Task
    infos: list[ClientInfo]
    update: Update
    gate: Gate
    declared: Declared

    def __post_init__(self) -> None:
        self.content = encode_update(self.update)
        self.limit = num_bytes(self.content) + SPARE_BYTES
        self.link = FakeLink(self.content)

    def decode(self, content: RecordDict) -> Update:
        return decode_update(content, self.limit, self.declared)

    def check(self, update: Update) -> None:
        """An answer that is taken could have come from an honest site."""
        assert update.metrics.keys() <= self.declared.metrics
        numbers = list(update.metrics.values())
        if update.findings is not None:
            found = update.findings.by_name()
            assert {name: len(n) for name, n in found.items()} == self.declared.findings
            numbers += [number for several in found.values() for number in several]
        assert all(math.isfinite(number) for number in numbers)
        tensors = [*update.weights.values(), *update.statistics.values()]
        assert all(isinstance(value, Tensor) for value in tensors)
        assert sum(value.nbytes for value in tensors) <= self.limit
        found = self.gate.check([self.task], [update], self.infos, GateState())
        assert len(found.updates) + len(found.dropped) == 1


@pytest.fixture(scope="module")
def scenes():
    """Replies of methods that send different things, and of a site with findings."""
    unlabeled = [scene(tiny(name), -1) for name in ("semianagg", "cbafed", "fedirm")]
    held_out = tiny("semianagg", evaluation={"validation_fraction": 0.3})
    return [*unlabeled, scene(held_out, min(held_out.federation.held_out))]


def scene(simulation, place):
    """Let the client of one task of the second stage answer it."""
    stage = simulation.experiment.stages[1]
    method, clients = simulation.method(stage), simulation.federation.clients
    infos = [client.info for client in clients]
    state = method.init(simulation.initial_weights(), infos, 1)
    task = method.plan(state)[place]
    client = next(each for each in clients if each.id == task.client)
    update, _ = method.train(task, client, {})
    held_out = simulation.federation.held_out.get(task.client)
    update = with_findings(update, held_out, simulation.setup(stage), task)
    declared = declared_by(method, len(simulation.class_names))
    return Scene(task, infos, update, gate_of(simulation, method), declared)


def check_refusal(refusal):
    assert isinstance(refusal, Refusal)
    assert re.fullmatch(r"FS\d{4}", refusal.code)
    assert refusal.reason.isprintable() and len(refusal.reason) < 400


def refused_by_name(decode):
    """Read without the last net: our own decoder raises errors of its own only."""
    try:
        return decode()
    except FedSemiError as error:
        return Refusal(error.code, printable(str(error)))


def delivered(seed, scene):
    """Spoil a reply, its records or the parts that carry it, and read it."""
    spoiler = Spoiler(seed)
    if spoiler.rng.random() < 0.5:
        content = spoiler.content(scene.content)
        return refused_by_name(lambda: scene.decode(content))
    link = scene.link.copy()
    for _ in range(spoiler.one([1, 1, 2])):
        if link.parts:
            spoiler.parts(link)
    return read(fetching(Inbox(link.grid(), scene.limit)), scene.decode)


def fetching(inbox):
    """Look for the reply, then take it."""

    def fetch():
        inbox.look([QUESTION])
        return inbox.take(QUESTION)

    return fetch


def test_a_spoiled_reply_is_an_answer_or_refused_and_never_an_error(scenes, promise):
    taken, before = 0, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for seed in range(CASES):
        scene = scenes[seed % len(scenes)]
        found = delivered(seed, scene)
        if isinstance(found, Update):
            scene.check(found)
            taken += 1
        else:
            check_refusal(found)
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    promise("FZ-1 spoiled replies, taken or refused", CASES, 0)
    assert CASES / 100 < taken < CASES / 2  # the spoiler is neither tame nor blunt
    assert grown * 1024 < MOST_GROWTH


def test_an_unspoiled_reply_is_taken(scenes):
    for scene in scenes:
        link = scene.link.copy()
        inbox = Inbox(link.grid(), num_bytes(scene.content))
        found = read(fetching(inbox), scene.decode)
        assert digest(found.weights) == digest(scene.update.weights)
        assert found.metrics == scene.update.metrics and link.confirmed == 1
        assert found.findings == scene.update.findings
        checked = scene.gate.check([scene.task], [found], scene.infos, GateState())
        assert not checked.dropped


def test_a_spoiled_introduction_is_read_or_refused(simulation, promise):
    info = simulation.federation.clients[0].info
    honest = encode_introduction(introduction_of(simulation, info, ("a", "b")))
    for seed in range(CASES // 10):
        content = Spoiler(seed).content(honest)
        found = refused_by_name(lambda content=content: decode_introduction(content))
        if not isinstance(found, Introduction):
            check_refusal(found)
    promise("FZ-2 spoiled introductions, read or refused", CASES // 10, 0)


def test_what_a_labeled_site_found_is_among_what_is_spoiled(scenes):
    assert [scene.update.findings is not None for scene in scenes] == [False] * 3 + [
        True
    ]
