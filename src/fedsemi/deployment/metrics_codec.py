"""The numbers of an update as Flower records, and back: metrics and findings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from flwr.app import MetricRecord

from fedsemi.client.wire import Declared
from fedsemi.errors import ProtocolError
from fedsemi.messages import Findings, is_number


def encode_metrics(metrics: Mapping[str, float]) -> MetricRecord:
    """Lay metrics out as a record."""
    return MetricRecord(dict(metrics))


def decode_metrics(record: Any, declared: Declared | None) -> dict[str, float]:
    """Read metrics: finite numbers of declared names."""
    if not isinstance(record, MetricRecord):
        raise ProtocolError("metrics are missing", code="FS2101")
    for name, number in record.items():
        if declared is not None and name not in declared.metrics:
            raise ProtocolError(
                f"the metric '{name}' is not one that the method declares",
                code="FS2120",
            )
        if not is_number(number):
            raise ProtocolError(f"the metric '{name}' is no number", code="FS2101")
    return {name: float(n) for name, n in record.items()}  # type: ignore[arg-type]


def encode_findings(findings: Findings | None) -> MetricRecord:
    """Lay findings out as a record, which is empty where there are none."""
    record = MetricRecord()
    if findings is not None:
        for name, numbers in findings.by_name().items():
            record[name] = [float(number) for number in numbers]
    return record


def decode_findings(record: Any, declared: Declared | None) -> Findings | None:
    """Read findings: all fields or none, finite numbers, as many as are declared."""
    if not isinstance(record, MetricRecord):
        raise ProtocolError("findings are missing", code="FS2101")
    if not record:
        return None
    names = [field.name for field in fields(Findings)]
    for name in sorted(record.keys() ^ set(names)):
        what = "undeclared" if name in record else "missing"
        raise ProtocolError(f"the findings '{name}' are {what}", code="FS2120")
    return Findings(*(_numbers(name, record[name], declared) for name in names))


def _numbers(name: str, found: Any, declared: Declared | None) -> tuple[float, ...]:
    if not isinstance(found, list) or not all(map(is_number, found)):
        raise ProtocolError(f"the findings '{name}' are no numbers", code="FS2101")
    if declared is not None and len(found) != declared.findings[name]:
        raise ProtocolError(
            f"the findings '{name}' are {len(found)} numbers, not "
            f"{declared.findings[name]}",
            code="FS2120",
        )
    return tuple(map(float, found))
