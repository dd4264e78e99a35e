"""The attack that docs/what-a-site-reveals.md warns of: shares from ten numbers."""

from __future__ import annotations

import pytest

reveals = pytest.importorskip("benchmarks.reveals")


def test_a_linear_attacker_reads_a_sites_histogram_off_the_heads_bias(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(reveals, "SIMULATED", 40)
    monkeypatch.setattr(reveals, "JUDGED", 20)
    bench = reveals.make_bench(1)
    found = reveals.scores(bench, "supervised", True, bench.fresh)
    fit, largest = found["the head's bias", "linear"]
    assert fit > 0.9 and largest > 0.85
    # A forest alone, by which this was once judged, understates it.
    assert found["the head's bias", "forest"][0] < fit - 0.1
