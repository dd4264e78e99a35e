"""What evaluation.json says of a model."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from tests.data.pictures import make_site

from fedsemi.config.experiment import make_experiment
from fedsemi.report.evaluation import Outcome, facts_of, site_facts
from fedsemi.report.run import read_run
from fedsemi.report.view import view_of
from fedsemi.simulation.build import Simulation, build


def answers(labels: list[int], num_classes: int = 2) -> Outcome:
    """A model that is right about every image but each fourth."""
    truth = np.array(labels)
    said = np.where(np.arange(len(truth)) % 4, truth, (truth + 1) % num_classes)
    probs = np.full((len(truth), num_classes), 0.1)
    probs[np.arange(len(truth)), said] = 1.1 - 0.1 * num_classes
    return Outcome(probs, truth, tuple("abcdefg"[:num_classes]))


def test_a_run_ends_with_an_evaluation_of_its_model(real_run: Path) -> None:
    run = read_run(real_run)
    found = run.evaluation
    assert found["model_sha256"] == run.summary["model_sha256"]
    scores = found["test"]["scores"]
    last = run.records[-1].test
    assert scores["accuracy"]["value"] == pytest.approx(last.accuracy, rel=1e-4)
    assert scores["auc"]["value"] == pytest.approx(last.auc, rel=1e-4)
    assert scores["num"] == sum(each["num"] for each in found["test"]["classes"])
    assert len(found["test"]["classes"]) == 4


def test_numbers_about_another_model_are_not_shown(real_run: Path) -> None:
    run = read_run(real_run)
    assert view_of([run])["runs"][0]["evaluation"]["test"]
    other = replace(run, summary=run.summary | {"model_sha256": "another"})
    assert "test" not in view_of([other])["runs"][0]["evaluation"]


def test_a_run_of_an_earlier_version_is_reported_as_before(
    real_run: Path, tmp_path: Path
) -> None:
    old = Path(shutil.copytree(real_run, tmp_path / "old"))
    (old / "evaluation.json").unlink()
    group = {"group": "f", "num": 3, "accuracy": 1.0, "recall": [1.0, None]}
    analysis = json.loads((old / "analysis.json").read_text())
    analysis["subgroups"] = {"sex": [group | {"balanced_accuracy": 1.0}]}
    (old / "analysis.json").write_text(json.dumps(analysis))
    shown = view_of([read_run(old)])["runs"][0]
    assert "test" not in shown["evaluation"]
    assert shown["subgroups"]["sex"][0]["group"] == "f"


def test_no_image_and_no_single_probability_is_kept(real_run: Path) -> None:
    content = json.loads((real_run / "evaluation.json").read_text())

    def longest(part: object) -> int:
        if isinstance(part, dict):
            return max((longest(each) for each in part.values()), default=0)
        if isinstance(part, list):
            return max([len(part), *(longest(each) for each in part)])
        return 0

    assert longest(content) <= 10, "bins, at most"


def test_subgroups_come_from_columns_that_name_kinds() -> None:
    outcome = replace(
        answers([0, 1] * 20),
        columns={"sex": ("f", "m") * 20, "file": tuple(map(str, range(40)))},
    )
    named = replace(outcome, columns=outcome.columns | {"name": ("x",) * 40})
    groups = facts_of(named)["subgroups"]
    assert set(groups) == {"sex", "file"}, "numbers are joined into bands"
    assert [each["name"] for each in groups["file"]] == [
        "0-9",
        "10-19",
        "20-29",
        "30-39",
    ]


def test_a_model_that_diverged_has_no_evaluation() -> None:
    outcome = answers([0, 1] * 20)
    outcome.probs[3] = np.nan
    assert facts_of(outcome) == {}


@pytest.fixture
def own(tmp_path: Path) -> Simulation:
    """Two labeled sites with different classes, one of them small."""
    a = make_site(tmp_path / "large", {"cat": 40, "dog": 40})
    b = make_site(tmp_path / "cats-only", {"cat": 50}, start=200)
    c = make_site(tmp_path / "tiny", {"cat": 6, "dog": 6}, start=400)
    sites = {"folders": [str(a), str(b), str(c)], "classes": ["cat", "dog"]}
    content = {"data": {"name": "folders", "image_size": 8}, "sites": sites}
    content |= {"model": {"name": "resnet8", "width": 4}}
    stages = [{"method": "supervised", "rounds": 1}]
    return build(make_experiment(content | {"stages": stages}))


def test_each_site_is_measured_on_its_own_test_images(own: Simulation) -> None:
    truth = own.dataset.test.labels
    probs = torch.nn.functional.one_hot(truth, 2).double() * 0.8 + 0.1
    found = site_facts(own, probs, lambda images: probs[: len(images)])
    assert found["sites_on"] == "test images from its folder"
    large, cats, tiny = (found["sites"][str(id)] for id in range(3))
    assert (large["num"], cats["num"]) == (16, 10)
    assert large["scores"]["missing"] == [] and cats["scores"]["missing"] == ["dog"]
    assert cats["scores"]["auc"] is None, "there is nothing to tell cats from"
    assert tiny == {"num": 2}, "too few to say anything"
    assert large["classes"][0]["thresholds"][0]["sensitivity"]["value"] == 1.0


def test_without_test_images_of_a_site_those_that_it_holds_out_count(
    real_run: Path,
) -> None:
    found = read_run(real_run).evaluation
    assert found["sites_on"] == "labeled images that it holds out"
    assert list(found["sites"]) == ["0"]
