from __future__ import annotations

import json
from contextlib import suppress

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("flwr")

from flwr.app import Array, ArrayRecord, ConfigRecord, RecordDict

from fedsemi.deployment.codec import (
    Introduction,
    Order,
    decode_introduction,
    decode_order,
    decode_tensors,
    decode_update,
    encode_introduction,
    encode_order,
    encode_tensors,
    encode_update,
    num_bytes,
)
from fedsemi.errors import ProtocolError
from fedsemi.messages import Findings, Task, Update
from fedsemi.weights import digest

_dtypes = st.sampled_from(
    [torch.float32, torch.float16, torch.float64, torch.int64, torch.uint8, torch.bool]
)
_tensor = st.builds(
    lambda dtype, shape: (torch.rand(shape) * 100).to(dtype),
    _dtypes,
    st.lists(st.integers(0, 4), max_size=3),
)
_tensors = st.dictionaries(st.text(min_size=1, max_size=8), _tensor, max_size=4)
_whole = st.integers(0, 2**62)


def _update(**changes: object) -> Update:
    content = {"client": 1, "round": 2, "num_labeled": 3, "num_unlabeled": 4}
    weights = {"w": torch.ones(2, 2)}
    return Update(**{"weights": weights, **content, **changes})  # type: ignore[arg-type]


@settings(max_examples=25, deadline=None)
@given(_tensors, _tensors, _whole, _whole, _whole)
def test_an_order_survives_the_journey(weights, broadcast, seed, after, number):
    task = Task(number, 7, weights, broadcast, group=2, seed=seed)
    found = decode_order(encode_order(Order(task, 1, after)))
    assert digest(found.task.weights) == digest(weights)
    assert digest(found.task.broadcast) == digest(broadcast)
    assert (found.stage, found.after, found.task.seed) == (1, after, seed)
    assert (found.task.client, found.task.round, found.task.group) == (number, 7, 2)


@settings(max_examples=25, deadline=None)
@given(
    _tensors,
    _tensors,
    st.dictionaries(
        st.text(max_size=5),
        st.floats(allow_nan=False, allow_infinity=False),
        max_size=3,
    ),
)
def test_an_update_survives_the_journey(weights, statistics, metrics):
    sent = _update(weights=weights, statistics=statistics, metrics=metrics)
    found = decode_update(encode_update(sent))
    assert digest(found.weights) == digest(weights)
    assert digest(found.statistics) == digest(statistics)
    assert found.metrics == metrics
    assert (found.client, found.round, found.num_unlabeled) == (1, 2, 4)


def test_findings_survive_the_journey_to_the_last_bit():
    sent = Findings((0.1 + 0.2,), (3, 1), (2, 0), (4,), (2,), (-1 / 3,))
    assert decode_update(encode_update(_update(findings=sent))).findings == sent
    assert decode_update(encode_update(_update())).findings is None


def test_an_introduction_survives_the_journey():
    sent = Introduction(1, 2, 3, ["a", "b"], "m", ["", "x"], "p", "0.1", "2.13")
    assert decode_introduction(encode_introduction(sent)) == sent


def test_an_introduction_with_a_wrong_type_is_refused():
    content = encode_introduction(Introduction(1, 2, 3, [], "m", [], "p", "0", "2"))
    content["introduction"]["num_labeled"] = "many"
    with pytest.raises(ProtocolError, match="num_labeled"):
        decode_introduction(content)


def test_an_undeclared_record_is_refused():
    content = encode_update(_update())
    content["images"] = ArrayRecord({"x": Array(np.zeros(3))})
    with pytest.raises(ProtocolError, match="FS2101 the record 'images' is undeclared"):
        decode_update(content)


def test_an_undeclared_number_is_refused():
    content = encode_update(_update())
    content["update"]["age_of_patient"] = 40
    with pytest.raises(ProtocolError, match="FS2101"):
        decode_update(content)


def test_an_oversized_answer_is_refused_before_it_is_decoded():
    content = encode_update(_update(weights={"w": torch.zeros(1000)}))
    assert num_bytes(content) > 4000
    with pytest.raises(ProtocolError, match="FS2105"):
        decode_update(content, limit=3000)


def _packed(data):
    return ArrayRecord({"safetensors": Array("uint8", (len(data),), "x", data)})


def test_a_header_that_claims_more_than_is_there_is_refused():
    honest = encode_tensors({"w": torch.zeros(4)})["safetensors"].data
    with pytest.raises(ProtocolError, match="FS2105"):
        decode_tensors(_packed(honest.replace(b"[4]", b"[9]")))


@pytest.mark.parametrize("data", [b"", b"no header at all", b"\xff" * 16])
def test_bytes_that_are_no_tensors_are_refused(data):
    with pytest.raises(ProtocolError, match="FS2105"):
        decode_tensors(_packed(data))


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_damaged_bytes_are_read_or_refused_and_never_raise_anything_else(data):
    honest = encode_tensors({"w": torch.zeros(2, 3), "n": torch.ones(1)})
    damaged = bytearray(honest["safetensors"].data)
    for _ in range(data.draw(st.integers(1, 3))):
        place = data.draw(st.integers(0, len(damaged) - 1))
        damaged[place] = data.draw(st.integers(0, 255))
    with suppress(ProtocolError):
        decode_tensors(_packed(bytes(damaged)))


def test_an_unusual_type_is_refused():
    record = encode_tensors({"w": torch.zeros(4, dtype=torch.bfloat16)})
    with pytest.raises(ProtocolError, match="FS2102 'w' is of BF16"):
        decode_tensors(record)


def test_an_array_beside_the_packed_ones_is_refused():
    record = encode_tensors({})
    record["images"] = Array(np.zeros(3))
    with pytest.raises(ProtocolError, match="FS2101"):
        decode_tensors(record)


def test_a_missing_number_is_refused():
    content = encode_update(_update())
    content["update"] = ConfigRecord({"client": 1})
    with pytest.raises(ProtocolError, match="FS2101"):
        decode_update(content)


def test_an_empty_message_is_refused():
    with pytest.raises(ProtocolError, match="missing"):
        decode_order(RecordDict())


@pytest.mark.parametrize("dtype", ["F32", "BOOL"])
def test_an_empty_tensor_whose_strides_cannot_be_counted_is_refused(dtype):
    about = {"dtype": dtype, "shape": [0, 2**32, 2**32], "data_offsets": [0, 0]}
    header = json.dumps({"w": about}).encode()
    with pytest.raises(ProtocolError, match="FS2102 'w' is of shape"):
        decode_tensors(_packed(len(header).to_bytes(8, "little") + header))


def test_a_truth_value_of_seven_is_refused():
    honest = encode_tensors({"w": torch.ones(1, dtype=torch.bool)})["safetensors"].data
    with pytest.raises(ProtocolError, match="FS2102 'w' is neither true nor false"):
        decode_tensors(_packed(honest[:-1] + b"\x07"))


def test_names_and_texts_count_as_bytes():
    content = encode_update(_update())
    before = num_bytes(content)
    content["metrics"]["x" * 1000] = 1.0
    assert num_bytes(content) == before + 1000 + 8


@pytest.mark.parametrize(
    ("field", "value"),
    [("torch", "2" * 101), ("class_names", ["a", "b" * 101]), ("class_names", [1, 2])],
)
def test_an_introduction_with_long_or_strange_texts_is_refused(field, value):
    content = encode_introduction(Introduction(1, 2, 3, [], "m", [], "p", "0", "2"))
    content["introduction"][field] = value
    with pytest.raises(ProtocolError, match=f"FS2101 '{field}' holds no text of up to"):
        decode_introduction(content)
