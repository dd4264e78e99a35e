"""What a run keeps for its report."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.data.pictures import make_site

from fedsemi.config.blueprint import Blueprint
from fedsemi.config.experiment import make_experiment
from fedsemi.report.analysis import Analysis, federation_facts
from fedsemi.simulation.build import Simulation, build


@pytest.fixture
def own_images(tmp_path: Path) -> Simulation:
    """Two sites, of which one has labels and a file that is none."""
    a = make_site(tmp_path / "hospital-a", {"cat": 5, "dog": 10})
    b = make_site(tmp_path / "b", {"": 6}, start=100)
    (a / "cat" / "broken.png").write_bytes(b"no picture")
    sites = {"folders": [str(a), str(b)], "classes": ["cat", "dog"], "max_bad": 0.5}
    content = {"data": {"name": "folders", "image_size": 8}, "sites": sites}
    content |= {"model": {"name": "resnet8", "width": 4}}
    return build(
        make_experiment(content | {"stages": [{"method": "semianagg", "rounds": 1}]})
    )


def test_own_sites_are_named_but_not_placed(own_images: Simulation) -> None:
    facts = federation_facts(own_images)
    assert [own["site"] for own in facts["clients"].values()] == ["hospital-a", "b"]
    assert facts["data"]["origin"] == "hospital-a, b"
    assert "/" not in json.dumps(facts)


def test_own_sites_tell_the_classes_of_labels_and_what_was_left_out(
    own_images: Simulation,
) -> None:
    facts = federation_facts(own_images)
    counts = [own["class_count"] for own in facts["clients"].values()]
    assert counts == [[4, 8], [0, 0]]  # a fifth of each class is for testing
    assert facts["labeled_only"]
    assert facts["data"]["left_out"] == 1


def test_labels_that_own_sites_lack_are_named(own_images: Simulation) -> None:
    (line,) = federation_facts(own_images)["label_gaps"]
    assert line.startswith("FS3406 1 of 2 classes have fewer than 5 labeled images")
    assert "(cat: 4)" in line, "one of five is tested on"


def test_a_simulation_has_no_sites_and_knows_all_classes(simulation) -> None:
    facts = federation_facts(simulation)
    assert not facts["labeled_only"]
    assert all("site" not in own for own in facts["clients"].values())
    assert sum(sum(own["class_count"]) for own in facts["clients"].values()) == 160


def test_a_coordinator_with_test_images_judges_its_last_model(
    simulation: Simulation, tmp_path: Path
) -> None:
    plan = Blueprint(
        simulation.experiment,
        simulation.model,
        simulation.views,
        simulation.class_names,
    )
    weights = plan.initial_weights()
    analysis = Analysis(tmp_path, plan, simulation.dataset.test)
    analysis.finish(weights)
    found = json.loads((tmp_path / "evaluation.json").read_text())
    assert found["test"]["scores"]["num"] == len(simulation.dataset.test)
    assert "confusion" in json.loads((tmp_path / "analysis.json").read_text())


def test_a_coordinator_without_test_images_judges_nothing(
    simulation: Simulation, tmp_path: Path
) -> None:
    plan = Blueprint(
        simulation.experiment,
        simulation.model,
        simulation.views,
        simulation.class_names,
    )
    Analysis(tmp_path, plan).finish(plan.initial_weights())
    assert not (tmp_path / "evaluation.json").exists()
