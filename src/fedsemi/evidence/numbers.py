"""How differences and their intervals are written."""

from __future__ import annotations

from fedsemi.evidence.stats import Interval


def points(test: Interval, seeds: str = "") -> str:
    """Write a difference with its interval and number of seeds."""
    inside = [f"95 % interval {interval(test)}"] if test.low is not None else []
    inside += [seeds] if seeds else []
    brackets = f" ({', '.join(inside)})" if inside else ""
    return f"{signed(test.mean)} points{brackets}"


def short(test: Interval) -> str:
    """Write a difference and its interval for a table."""
    if test.low is None:
        return signed(test.mean)
    return f"{signed(test.mean)} ({interval(test)})"


def signed(value: float) -> str:
    """Write a number with its sign, and a real minus.

    >>> signed(-0.25), signed(1.5)
    ('−0.25', '+1.50')
    """
    return f"{value:+.2f}".replace("-", "−")


def interval(test: Interval) -> str:
    """Write the 95 % interval."""
    assert test.low is not None and test.high is not None
    return f"{signed(test.low)} to {signed(test.high)}"
