"""What is known to leak is told for what is sent, and for nothing else."""

from __future__ import annotations

from fedsemi.messages import STATISTICS, Update
from fedsemi.text import leaks
from fedsemi.text.leaks import NOT_MEASURED, known_leak


def test_every_line_is_of_a_field_that_a_site_may_send() -> None:
    sent = {*Update.__dataclass_fields__, "metrics.*", "findings.class_count"}
    sent |= {f"statistics.{name}" for name in (*STATISTICS, "claims", "model")}
    assert set(leaks._table()) <= sent


def test_what_was_not_measured_is_said_not_to_be() -> None:
    assert known_leak("statistics.centroids") == NOT_MEASURED
    assert known_leak("weights") != NOT_MEASURED
    assert known_leak("metrics.loss") == known_leak("metrics.admitted")
