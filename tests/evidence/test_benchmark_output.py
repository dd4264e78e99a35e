"""Files, page and screen of a benchmark."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path

import pytest
from rich.console import Console
from tests.evidence.made import evidence_of
from tests.evidence.test_benchmark_table import LC, ran

from fedsemi.evidence.benchmark_output import (
    benchmark_page,
    show_benchmark,
    write_benchmarks,
)
from fedsemi.evidence.profiles import Profile
from fedsemi.evidence.results import Evidence
from fedsemi.evidence.standing import standing


@pytest.fixture
def evidence(medium: Profile) -> Evidence:
    two = {"uniform": (0.6, 0.61), "sage": (0.7, 0.72)}
    return evidence_of(
        medium, {LC.setting(arm): [*map(ran, found)] for arm, found in two.items()}
    )


def test_table_numbers_picture_and_page_are_written(
    evidence: Evidence, tmp_path: Path
) -> None:
    page = write_benchmarks(tmp_path, [LC], evidence)
    names = sorted(each.name for each in tmp_path.iterdir())
    assert names == [f"benchmark-lc-svhn.{end}" for end in ("csv", "html", "md", "svg")]
    assert page == tmp_path / "benchmark-lc-svhn.html"
    text = (tmp_path / "benchmark-lc-svhn.md").read_text()
    assert text.startswith("# LC on SVHN: whole clients are labeled, others not at all")


def test_nothing_is_written_before_anything_ran(
    medium: Profile, tmp_path: Path
) -> None:
    assert write_benchmarks(tmp_path, [LC], evidence_of(medium, {})) is None
    assert not list(tmp_path.iterdir())


def test_the_page_has_ranks_differences_and_curves(evidence: Evidence) -> None:
    html = benchmark_page(standing(LC, evidence), evidence)
    found = re.search(r'<script[^>]*id="data"[^>]*>(.*?)</script>', html, re.DOTALL)
    assert found is not None
    (section,) = json.loads(found[1])["tables"]
    kinds = [plot["kind"] for plot in section["plots"]]
    assert kinds == ["ranks", "intervals", "lines"]


def test_the_screen_shows_the_table_and_what_it_decides(evidence: Evidence) -> None:
    console = Console(width=120, record=True, file=io.StringIO())
    show_benchmark(standing(LC, evidence), evidence, console)
    said = console.export_text()
    assert "sage †" in said and "reference" in said and "Nemenyi" in said
