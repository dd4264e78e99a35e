"""A method and a seed are measured once, and what was measured is kept."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fedsemi.config.experiment import make_experiment
from fedsemi.errors import ConfigError, StorageError
from fedsemi.evidence.compare import OwnConfig
from fedsemi.leakage import records
from fedsemi.leakage.lab import Cell, Scale
from fedsemi.leakage.records import Job, make_jobs, read_records, run_jobs

from .conftest import content
from .made import cell

OWN = OwnConfig("mine", make_experiment(content()))
CELLS = (cell("classes", "plain", 0.75), cell("membership", "plain", 0.5, outside=9))


@pytest.fixture
def measured(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Measure nothing; note which methods would have been."""
    done: list[str] = []

    def job(
        experiment: Any, dataset: Any, scale: Scale, folder: Path
    ) -> Iterator[Cell]:
        done.append(f"{experiment.stages[-1].method} {experiment.seed}")
        yield from CELLS

    monkeypatch.setattr(records, "run_job", job)
    return done


def jobs(
    methods: str = "semianagg fedavg-semi", scale: Scale | None = None
) -> list[Job]:
    return make_jobs(OWN, methods.split(), 2, scale or Scale())


def test_what_was_measured_is_read_again_and_not_measured_twice(
    tmp_path: Path, measured: list[str]
) -> None:
    first = list(run_jobs(jobs(), tmp_path))
    assert measured == ["semianagg 1", "fedavg-semi 1", "semianagg 2", "fedavg-semi 2"]
    again = list(run_jobs(jobs("semianagg fedavg-semi fedavg"), tmp_path))
    assert measured[4:] == ["fedavg 1", "fedavg 2"]
    assert [new for _, _, new in again] == [False, False, True] * 2
    assert [r for _, r, _ in again if r.method != "fedavg"] == [r for _, r, _ in first]
    assert len(read_records(tmp_path)) == 6
    assert read_records(tmp_path)[0].cells == CELLS


def test_a_run_that_was_broken_off_goes_on_after_the_last_that_was_done(
    tmp_path: Path, measured: list[str]
) -> None:
    running = run_jobs(jobs(), tmp_path)
    next(running)
    running.close()
    assert len(list(run_jobs(jobs(), tmp_path))) == 4 and len(measured) == 4


def test_records_of_other_settings_are_not_taken_for_these(
    tmp_path: Path, measured: list[str]
) -> None:
    list(run_jobs(jobs(), tmp_path))
    with pytest.raises(StorageError, match=r"other settings; give another folder") as e:
        list(run_jobs(jobs(scale=Scale(noise=2.0)), tmp_path))
    assert e.value.code == "FS6303"


def test_real_sites_are_refused_before_anything_is_read() -> None:
    fixed = make_experiment(content(partition={"file": "published.pth"}))
    with pytest.raises(ConfigError) as e:
        make_jobs(OwnConfig("mine", fixed), ["semianagg"], 1, Scale())
    assert e.value.code == "FS6300"
