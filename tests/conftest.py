"""Fixtures that many tests share, and the table of promises that they kept."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

torch.set_num_threads(1)


@pytest.fixture(autouse=True)
def _one_thread() -> None:
    """Promise bits per thread count, so pin the count."""
    torch.set_num_threads(1)


@pytest.fixture
def promise(
    record_property: Callable[[str, object], None],
) -> Callable[[str, int, int], None]:
    """Report how often a promise was tried and how often it failed."""

    def report(name: str, tried: int, failed: int) -> None:
        record_property("promise", [name, tried, failed])

    return report


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Print what was promised, how often it was tried and how often it failed."""
    rows = [
        row
        for outcome in ("passed", "failed")
        for report in terminalreporter.getreports(outcome)
        for name, row in report.user_properties
        if name == "promise" and report.when == "call"
    ]
    if not rows:
        return
    terminalreporter.section("promises")
    terminalreporter.write_line(f"{'promise':<62}{'tried':>8}{'failed':>8}")
    for name, tried, failed in sorted(rows):
        terminalreporter.write_line(f"{name:<62}{tried:>8}{failed:>8}")
