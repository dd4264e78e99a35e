"""Tasks and updates as Flower records, and back; nothing is decoded unchecked."""

from __future__ import annotations

import io
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import torch
from flwr.app import Array, ArrayRecord, ConfigRecord, MetricRecord, RecordDict
from torch import Tensor

from fedsemi.errors import ProtocolError
from fedsemi.messages import Task, Update

_NPY = "numpy.ndarray"
_FLOATS = ("float64", "float32", "float16")
_DTYPES = frozenset((*_FLOATS, "int64", "int32", "int16", "int8", "uint8", "bool"))
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
    """Lay named tensors out as arrays in NumPy's own format."""
    arrays = {
        name: Array(np.asarray(tensor.detach().cpu().contiguous().numpy()))
        for name, tensor in tensors.items()
    }
    return ArrayRecord(arrays)


def decode_tensors(record: Any) -> dict[str, Tensor]:
    """Read named tensors; sizes are compared before anything is allocated."""
    if not isinstance(record, ArrayRecord):
        raise ProtocolError("tensors are missing", code="FS2101")
    return {name: _tensor(name, array) for name, array in record.items()}


def num_bytes(content: RecordDict) -> int:
    """Add up the bytes of all arrays as they travel."""
    return sum(
        len(array.data)
        for record in content.array_records.values()
        for array in record.values()
    )


def _tensor(name: str, array: Array) -> Tensor:
    if array.stype != _NPY or array.dtype not in _DTYPES:
        raise ProtocolError(
            f"'{name}' is {array.stype} of {array.dtype}, not a plain array",
            code="FS2102",
        )
    stream = io.BytesIO(array.data)
    try:
        version = np.lib.format.read_magic(stream)
        shape, fortran, dtype = np.lib.format.read_array_header_1_0(stream)
    except ValueError as error:
        raise ProtocolError(
            f"'{name}' has no NumPy header: {error}", "FS2105"
        ) from None
    body = memoryview(array.data)[stream.tell() :]
    told = (1, 0), tuple(array.shape), np.dtype(array.dtype), False
    if (version, shape, dtype, fortran) != told:
        raise ProtocolError(f"'{name}' is not what its label says", code="FS2102")
    if math.prod(shape) * dtype.itemsize != len(body):
        raise ProtocolError(
            f"'{name}' claims {list(shape)} of {dtype}, but has {len(body):,} bytes",
            code="FS2105",
        )
    return torch.from_numpy(np.frombuffer(body, dtype).reshape(shape).copy())


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
