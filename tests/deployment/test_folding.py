from __future__ import annotations

import pytest
import torch

pytest.importorskip("flwr")

from flwr.app import Array, ArrayRecord, ConfigRecord, RecordDict

from fedsemi.deployment.codec import (
    Order,
    decode_order,
    decode_update,
    encode_order,
    encode_update,
)
from fedsemi.deployment.folding import FOLDED, folded, unfolded
from fedsemi.errors import ProtocolError
from fedsemi.messages import Findings, Task, Update


def _update(**fields):
    weights = {"w": torch.arange(3.0), "steps": torch.tensor(7)}
    return Update(2, 1, weights, 3, 4, metrics={"loss": 0.5}, **fields)


def test_a_small_update_becomes_one_record_and_comes_back_the_same():
    findings = Findings(*([1.0, 2.0] for _ in Findings.__dataclass_fields__))
    sent = encode_update(_update(findings=findings))
    content = folded(sent)
    assert list(content) == [FOLDED]
    found = unfolded(content)
    assert {name: type(record) for name, record in found.items()} == {
        name: type(record) for name, record in sent.items()
    }
    update = decode_update(found)
    assert torch.equal(update.weights["w"], torch.arange(3.0))
    assert update.weights["steps"].dtype == torch.int64
    assert update.metrics == {"loss": 0.5}
    assert decode_update(unfolded(folded(encode_update(_update())))).findings is None


def test_an_order_comes_back_the_same():
    order = Order(Task(1, 2, {"w": torch.ones(2)}, seed=9), 1, after=5, sites=3)
    found = decode_order(unfolded(folded(encode_order(order))))
    assert (found.stage, found.after, found.sites, found.task.seed) == (1, 5, 3, 9)


def test_a_large_update_is_left_in_pieces_that_a_proxy_lets_pass():
    content = encode_update(Update(2, 1, {"w": torch.zeros(300_000)}, 3, 4))
    assert folded(content) is content
    assert unfolded(content) is content


def test_arrays_of_others_are_left_alone():
    array = Array("float32", (1,), "numpy.ndarray", b"\0" * 4)
    content = RecordDict({"x": ArrayRecord({"a": array})})
    assert folded(content) is content


@pytest.mark.parametrize(
    "flat",
    [
        {},
        {"records": 3},
        {"records": [3]},
        {"records": ["config a"], "1 x": 1},
        {"records": ["config a"], "-1 x": 1},
        {"records": ["config a"], "x": 1},
        {"records": ["config a", "config a"]},
        {"records": ["pickle a"]},
        {"records": ["array a"], "0 x": "text"},
    ],
)
def test_a_message_that_is_folded_oddly_is_refused(flat):
    with pytest.raises(ProtocolError, match="FS2101 a folded"):
        unfolded(RecordDict({FOLDED: ConfigRecord(flat)}))
