"""Tasks and updates as Flower records, and back; nothing is decoded unchecked."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

import torch
from flwr.app import Array, ArrayRecord, ConfigRecord, RecordDict
from safetensors import SafetensorError, deserialize
from safetensors.torch import save
from torch import Tensor

from fedsemi.client.wire import Declared
from fedsemi.deployment.metrics_codec import (
    decode_findings,
    decode_metrics,
    encode_findings,
    encode_metrics,
)
from fedsemi.errors import ProtocolError
from fedsemi.messages import Task, Update

_PACKED = "safetensors"
_DTYPES = {
    "F64": torch.float64,
    "F32": torch.float32,
    "F16": torch.float16,
    "I64": torch.int64,
    "I32": torch.int32,
    "I16": torch.int16,
    "I8": torch.int8,
    "U8": torch.uint8,
    "BOOL": torch.bool,
}
_MOST_NUMBERS = 2**40  # an empty tensor of more has strides that no machine can count
MOST_TEXT = 100
_UPDATE_INTEGERS = (
    "client",
    "round",
    "num_labeled",
    "num_unlabeled",
    "num_pseudo",
    "group",
)


@dataclass(frozen=True)
class Order:
    """A task with what a remote site must know to carry it out."""

    task: Task
    stage: int
    """Number of the stage, which says with which method."""
    after: int = 0
    """Seed of the site's last task that the server counts as done; 0 for none.

    The site continues from the memory of that task, so that a repeated round gives
    the same bits and an answer that came too late leaves no trace.
    """
    sites: int = 1
    """How many sites are in the federation, as the coordinator tells."""


@dataclass(frozen=True)
class Introduction:
    """What a site says of itself before it is given work."""

    client: int
    num_labeled: int
    num_unlabeled: int
    class_names: list[str]
    model_sha256: str
    """Hash of the network built from seed 0: proves the same model and generator."""
    anchor_sha256: list[str]
    """Hash of each stage's anchor, empty for a method without one."""
    plan_sha256: str
    fedsemi: str
    torch: str
    plugins: list[str] = field(default_factory=list)
    """Source, release and name of what does not come with fedsemi."""
    policy_sha256: str = ""
    """Hash of the rules that the site's owner has set; none in a simulation."""
    encoder_sha256: str = ""
    """Hash of the file of the pretrained encoder; none for a network without one."""


def encode_order(order: Order) -> RecordDict:
    """Lay an order out as records."""
    task = order.task
    numbers: dict[str, Any] = {
        "client": task.client,
        "round": task.round,
        "group": task.group,
        "seed": task.seed,
        "stage": order.stage,
        "after": order.after,
        "sites": order.sites,
    }
    return RecordDict(
        {
            "task": ConfigRecord(numbers),
            "weights": encode_tensors(task.weights),
            "broadcast": encode_tensors(task.broadcast),
        }
    )


def decode_order(content: RecordDict) -> Order:
    """Read an order; raise ProtocolError if anything about it is odd."""
    _exactly(content, {"task", "weights", "broadcast"})
    names = ("client", "round", "group", "seed", "stage", "after", "sites")
    numbers = _integers(content["task"], names)
    beside = {name: numbers.pop(name) for name in ("stage", "after", "sites")}
    task = Task(
        weights=decode_tensors(content["weights"]),
        broadcast=decode_tensors(content["broadcast"]),
        **numbers,
    )
    return Order(task, **beside)


def encode_update(update: Update) -> RecordDict:
    """Lay an update out as records."""
    numbers = {name: getattr(update, name) for name in _UPDATE_INTEGERS}
    return RecordDict(
        {
            "update": ConfigRecord(numbers),
            "weights": encode_tensors(update.weights),
            "statistics": encode_tensors(update.statistics),
            "metrics": encode_metrics(update.metrics),
            "findings": encode_findings(update.findings),
        }
    )


def decode_update(
    content: RecordDict,
    limit: int | None = None,
    declared: Declared | None = None,
) -> Update:
    """Read an update, or raise ProtocolError.

    Args:
        content: What a site sent.
        limit: The most bytes that it may hold, texts and names included.
        declared: What it may hold beside tensors; None to leave that unchecked.
    """
    _exactly(content, {"update", "weights", "statistics", "metrics", "findings"})
    if limit is not None and (size := num_bytes(content)) > limit:
        raise ProtocolError(
            f"the answer holds {size:,} bytes, but at most {limit:,} are due",
            code="FS2105",
        )
    return Update(
        weights=decode_tensors(content["weights"]),
        statistics=decode_tensors(content["statistics"]),
        metrics=decode_metrics(content["metrics"], declared),
        findings=decode_findings(content["findings"], declared),
        **_integers(content["update"], _UPDATE_INTEGERS),
    )


def encode_introduction(introduction: Introduction) -> RecordDict:
    """Lay an introduction out as one record."""
    return RecordDict({"introduction": ConfigRecord(asdict(introduction))})


def decode_introduction(content: RecordDict) -> Introduction:
    """Read an introduction, or raise ProtocolError."""
    _exactly(content, {"introduction"})
    record = content["introduction"]
    try:
        found = Introduction(**record)
    except TypeError as error:
        raise ProtocolError(f"a strange introduction: {error}", code="FS2101") from None
    kinds = {"int": int, "str": str, "list[str]": list}
    for name, kind in Introduction.__annotations__.items():
        value = getattr(found, name)
        if type(value) is not kinds[kind]:
            raise ProtocolError(f"'{name}' is not {kind}", code="FS2101")
        texts = value if isinstance(value, list) else [str(value)]
        for text in texts:
            if type(text) is not str or len(text) > MOST_TEXT:
                raise ProtocolError(
                    f"'{name}' holds no text of up to {MOST_TEXT} letters",
                    code="FS2101",
                )
    return found


def encode_tensors(tensors: Mapping[str, Tensor]) -> ArrayRecord:
    """Pack named tensors into one array of bytes.

    Flower sends every array as objects of its own, each with requests at each hop; a
    small network as sixty arrays spends more time in these than in training.
    """
    plain = {
        name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()
    }
    data = save(plain)
    return ArrayRecord({_PACKED: Array("uint8", (len(data),), _PACKED, data)})


def decode_tensors(record: Any) -> dict[str, Tensor]:
    """Unpack named tensors; all that is claimed of them is compared before."""
    if not isinstance(record, ArrayRecord) or set(record) != {_PACKED}:
        raise ProtocolError("tensors are missing", code="FS2101")
    try:
        # Compares sizes, shapes and types with each other and with what is there.
        packed = deserialize(record[_PACKED].data)  # type: ignore[no-untyped-call]
    except (SafetensorError, ValueError) as error:
        raise ProtocolError(f"tensors are unreadable: {error}", code="FS2105") from None
    return {name: _tensor(name, **parts) for name, parts in packed}


def _tensor(name: str, shape: list[int], dtype: str, data: bytearray) -> Tensor:
    if dtype not in _DTYPES:
        raise ProtocolError(f"'{name}' is of {dtype}", code="FS2102")
    if math.prod(max(side, 1) for side in shape) > _MOST_NUMBERS:
        raise ProtocolError(f"'{name}' is of shape {shape}", code="FS2102")
    if dtype == "BOOL" and max(data, default=0) > 1:
        raise ProtocolError(f"'{name}' is neither true nor false", code="FS2102")
    if not data:
        return torch.empty(shape, dtype=_DTYPES[dtype])
    return torch.frombuffer(data, dtype=_DTYPES[dtype]).reshape(shape)


def num_bytes(content: RecordDict) -> int:
    """Add up the bytes of all that travels: arrays, numbers, names and texts."""
    return sum(
        len(name) + sum(size_of(key) + size_of(value) for key, value in record.items())
        for name, record in content.items()
    )


def size_of(value: object) -> int:
    """Count the bytes of one value."""
    if isinstance(value, Array):
        about = len(value.dtype) + len(value.stype) + 8 * len(value.shape)
        return about + len(value.data)
    if isinstance(value, list):
        return sum(map(size_of, value))
    return len(value) if isinstance(value, str | bytes) else 8


def _exactly(content: RecordDict, names: set[str]) -> None:
    for name in sorted(content.keys() ^ names):
        what = "undeclared" if name in content else "missing"
        raise ProtocolError(f"the record '{name}' is {what}", code="FS2101")


def _integers(record: Any, names: tuple[str, ...]) -> dict[str, int]:
    if not isinstance(record, ConfigRecord) or record.keys() ^ set(names):
        found = ", ".join(sorted(getattr(record, "keys", list)()))
        raise ProtocolError(
            f"numbers are {found or 'missing'}, not {', '.join(names)}", code="FS2101"
        )
    for name in names:
        if type(record[name]) is not int:
            raise ProtocolError(f"'{name}' is not a whole number", code="FS2101")
    return {name: int(record[name]) for name in names}  # type: ignore[arg-type]
