"""A whole job of the lab, and who may import it."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

import fedsemi
from fedsemi.config.experiment import make_experiment
from fedsemi.data.dataset import Dataset
from fedsemi.leakage.lab import Scale, run_job

from .conftest import content


def test_nothing_that_runs_at_a_site_may_import_the_attackers() -> None:
    root = Path(fedsemi.__file__).parents[2]
    contracts = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))
    rules = contracts["tool"]["importlinter"]["contracts"]
    (rule,) = [each for each in rules if "the truth" in each["name"]]
    assert "fedsemi.leakage" in rule["forbidden_modules"]


@pytest.mark.slow
def test_a_labeled_sites_classes_are_read_off_its_model_and_off_no_noisy_sum(
    tmp_path: Path, digits: Dataset
) -> None:
    experiment = make_experiment(content("supervised"))
    scale = Scale(sites=40, sums=(10,), noise=1.0)
    cells = list(run_job(experiment, digits, scale, tmp_path))
    found = {(c.question, c.thing, c.form): c for c in cells}
    plain = found["classes", "model", "plain"]
    assert plain.value > 0.9 and plain.site == "labeled"
    assert found["shares", "model", "plain"].value < plain.baseline / 2
    assert found["classes", "model", "sum of 10"].value < 0.75
    for form in ("noise", "sum of 10 + noise"):
        assert 0.4 < found["classes", "model", form].value < 0.6
    assert 0.4 < found["membership", "model", "noise"].value < 0.6


@pytest.mark.slow
def test_diversities_are_asked_for_classes_shares_and_single_images(
    tmp_path: Path, digits: Dataset
) -> None:
    before = {"method": "supervised", "rounds": 30, "local": {"epochs": 3}}
    stages = [before, {"method": "semianagg", "rounds": 1}]
    scale = Scale(sites=22, sums=(3,), noise=0.0)
    experiment = make_experiment(content(stages=stages))
    cells = list(run_job(experiment, digits, scale, tmp_path))
    r = [c for c in cells if c.thing == "statistics.diversity"]
    assert {(c.question, c.form) for c in r} == {
        *((q, f) for q in ("classes", "shares") for f in ("plain", "presence")),
        *((q, "sum of 3") for q in ("classes", "shares")),
        ("membership", "plain"),
    }
    assert next(c for c in r if c.form == "plain").value > 0.6
