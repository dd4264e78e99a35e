"""Small messages in one piece: each piece costs Flower a request at every hop.

Flower takes a message apart into objects and sends them one by one, which for a small
network takes longer than its training. A message below a megabyte is therefore laid
into a single record; a larger one is sent as it is, in pieces that proxies let pass.
"""

from __future__ import annotations

from typing import Any

from flwr.app import Array, ArrayRecord, ConfigRecord, MetricRecord, RecordDict

from fedsemi.errors import ProtocolError

FOLDED = "folded"
_MOST_BYTES = 1 << 20
_NAMES = "records"
_KINDS: dict[str, type] = {
    "array": ArrayRecord,
    "config": ConfigRecord,
    "metric": MetricRecord,
}


def folded(content: RecordDict) -> RecordDict:
    """Lay all records into one, if they are small."""
    arrays = [
        a for r in content.values() if isinstance(r, ArrayRecord) for a in r.items()
    ]
    plain = all(array.dtype == "uint8" and len(array.shape) == 1 for _, array in arrays)
    if not plain or sum(len(array.data) for _, array in arrays) > _MOST_BYTES:
        return content
    kinds = {kind: name for name, kind in _KINDS.items()}
    flat: dict[str, Any] = {
        _NAMES: [f"{kinds[type(record)]} {name}" for name, record in content.items()]
    }
    for number, record in enumerate(content.values()):
        for key, value in record.items():
            inner = value.data if isinstance(value, Array) else value
            flat[f"{number} {key}"] = inner
    return RecordDict({FOLDED: ConfigRecord(flat)})


def unfolded(content: RecordDict) -> RecordDict:
    """Return the records that were laid into one; others as they are."""
    if content.keys() != {FOLDED}:
        return content
    flat = dict(content[FOLDED])
    names: Any = flat.pop(_NAMES, None)
    if not isinstance(names, list) or not all(isinstance(n, str) for n in names):
        raise ProtocolError("a folded message names no records", code="FS2101")
    values: list[dict[str, Any]] = [{} for _ in names]
    for key, value in flat.items():
        number, _, name = key.partition(" ")
        if not number.isdecimal() or int(number) >= len(values):
            raise ProtocolError("a folded message has loose parts", code="FS2101")
        values[int(number)][name] = value
    records = RecordDict()
    for named, fields in zip(names, values, strict=True):
        kind, _, name = named.partition(" ")
        if kind not in _KINDS or name in records:
            raise ProtocolError("a folded message has strange records", code="FS2101")
        records[name] = _record(_KINDS[kind], fields)
    return records


def _record(kind: type, fields: dict[str, Any]) -> Any:
    if kind is ArrayRecord:
        if not all(isinstance(data, bytes) for data in fields.values()):
            raise ProtocolError("a folded array holds no bytes", code="FS2101")
        fields = {
            name: Array("uint8", (len(data),), "safetensors", data)
            for name, data in fields.items()
        }
    return kind(fields)
