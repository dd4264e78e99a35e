"""Tasks and updates as Flower records, and back; nothing is decoded unchecked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import torch
from flwr.app import Array, ArrayRecord, ConfigRecord, MetricRecord, RecordDict
from safetensors import SafetensorError
from safetensors.torch import load, save
from torch import Tensor

from fedsemi.errors import ProtocolError
from fedsemi.messages import Task, Update

_PACKED = "safetensors"
_DTYPES = frozenset(
    (
        torch.float64,
        torch.float32,
        torch.float16,
        torch.int64,
        torch.int32,
        torch.int16,
        torch.int8,
        torch.uint8,
        torch.bool,
    )
)
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
    names = ("client", "round", "group", "seed", "stage", "after")
    numbers = _integers(content["task"], names)
    stage, after = numbers.pop("stage"), numbers.pop("after")
    task = Task(
        weights=decode_tensors(content["weights"]),
        broadcast=decode_tensors(content["broadcast"]),
        **numbers,
    )
    return Order(task, stage, after)


def encode_update(update: Update) -> RecordDict:
    """Lay an update out as records."""
    numbers = {name: getattr(update, name) for name in _UPDATE_INTEGERS}
    return RecordDict(
        {
            "update": ConfigRecord(numbers),
            "weights": encode_tensors(update.weights),
            "statistics": encode_tensors(update.statistics),
            "metrics": MetricRecord(dict(update.metrics)),
        }
    )


def decode_update(content: RecordDict, limit: int | None = None) -> Update:
    """Read an update of at most `limit` bytes of tensors, or raise ProtocolError."""
    _exactly(content, {"update", "weights", "statistics", "metrics"})
    if limit is not None and (size := num_bytes(content)) > limit:
        raise ProtocolError(
            f"the answer holds {size:,} bytes, but at most {limit:,} are due",
            code="FS2105",
        )
    metrics = content["metrics"]
    if not isinstance(metrics, MetricRecord) or not all(
        isinstance(number, int | float) for number in metrics.values()
    ):
        raise ProtocolError("a metric is not a number", code="FS2101")
    return Update(
        weights=decode_tensors(content["weights"]),
        statistics=decode_tensors(content["statistics"]),
        metrics={name: float(n) for name, n in metrics.items()},  # type: ignore[arg-type]
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
        if type(getattr(found, name)) is not kinds[kind]:
            raise ProtocolError(f"'{name}' is not {kind}", code="FS2101")
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
    """Unpack named tensors; sizes are compared before anything is allocated."""
    if not isinstance(record, ArrayRecord) or set(record) != {_PACKED}:
        raise ProtocolError("tensors are missing", code="FS2101")
    try:
        tensors = load(record[_PACKED].data)
    except (SafetensorError, KeyError, ValueError) as error:
        raise ProtocolError(f"tensors are unreadable: {error}", code="FS2105") from None
    for name, tensor in tensors.items():
        if tensor.dtype not in _DTYPES:
            raise ProtocolError(f"'{name}' is of {tensor.dtype}", code="FS2102")
    return tensors


def num_bytes(content: RecordDict) -> int:
    """Add up the bytes of all arrays as they travel."""
    return sum(
        len(array.data)
        for record in content.array_records.values()
        for array in record.values()
    )


def _exactly(content: RecordDict, names: set[str]) -> None:
    for name in content.keys() ^ names:
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
