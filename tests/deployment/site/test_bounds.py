"""The bounds of a site leave room for honest plans, and end where they say."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from hypothesis import example, given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from fedsemi.cli import app
from fedsemi.cli.deployment import deal_out
from fedsemi.config.blueprint import Blueprint, read_blueprint
from fedsemi.config.experiment import load_config, make_experiment
from fedsemi.config.files import CONFIGS
from fedsemi.data.augment import Views
from fedsemi.data.client import Client
from fedsemi.data.site import Site, write_site
from fedsemi.deployment.site.agreement import AGREED
from fedsemi.deployment.site.bounds import BOUNDS
from fedsemi.errors import ProtocolError
from fedsemi.models import ModelSpec


def client(labeled: int, unlabeled: int = 0) -> Client:
    images = torch.zeros(labeled + unlabeled, 1, 1, 1, dtype=torch.uint8)
    labels = torch.zeros(labeled, dtype=torch.long)
    return Client(0, images[:labeled], labels, images[labeled:])


def plan(**sections) -> Blueprint:
    content = {
        "data": {"name": "synthetic"},
        "model": {"name": "resnet8", "width": 4},
        "stages": [{"method": "semianagg", "rounds": 2}],
    }
    model = ModelSpec("resnet8", 3, width=4, image_size=8)
    views = Views(8, 10, (0.5,) * 3, (0.25,) * 3)
    return Blueprint(make_experiment(content | sections), model, views, ("a", "b", "c"))


def outside(blueprint: Blueprint, owns: Client) -> list[str]:
    return [found.why for found in BOUNDS.outside(blueprint, owns)]


@pytest.mark.parametrize("path", sorted(CONFIGS.rglob("*.toml")), ids=lambda p: p.stem)
def test_every_shipped_config_is_within_the_bounds_of_a_usual_site(path: Path):
    experiment = load_config(path)
    model = ModelSpec(experiment.model.name, 100, width=experiment.model.width)
    views = Views(32, 40, (0.5,) * 3, (0.25,) * 3)
    names = tuple(map(str, range(100)))
    found = outside(Blueprint(experiment, model, views, names), client(256, 256))
    assert found == []


def test_the_largest_batch_is_a_quarter_of_what_a_site_has():
    of_16 = plan(local={"batch_size": 16})
    assert outside(of_16, client(64)) == outside(of_16, client(0, 64)) == []
    assert "fewer than 4 batches" in outside(of_16, client(63))[0]
    assert "fewer than 4 batches" in outside(of_16, client(64, 63))[0]
    assert outside(of_16, client(0)) == []


@pytest.mark.parametrize(
    ("local", "said"),
    [
        ({"lr_labeled": 1e-5}, "lr_labeled = 1e-05 is not from 0.0001 to 1"),
        ({"lr_unlabeled": 2.0}, "lr_unlabeled = 2 is not from 0.0001 to 1"),
        ({"momentum": 0.999}, "momentum = 0.999 is not from 0 to 0.99"),
        ({"weight_decay": 0.2}, "weight_decay = 0.2 is not from 0 to 0.1"),
        ({"clip_norm": 1e-4}, "clip_norm = 0.0001 is not from 0.01 to 1000"),
        ({"epochs": 101}, "epochs = 101 is not from 1 to 100"),
    ],
)
def test_a_setting_of_local_training_beyond_the_bounds_is_named(local, said):
    assert outside(plan(local=local), client(256)) == [f"stages.0: {said}"]
    stage = {"method": "semianagg", "rounds": 2, "local": local}
    assert outside(plan(stages=[stage]), client(256)) == [f"stages.0: {said}"]


@pytest.mark.parametrize(
    ("stage", "said"),
    [
        ({"method": "semianagg", "anchors": 10**9}, "anchors = 1e+09"),
        ({"method": "cbafed", "labeled_epochs": 101}, "labeled_epochs = 101"),
        ({"method": "fedbarlow", "projector_width": 10**8}, "projector_width = 1e+08"),
        ({"method": "fedbarlow", "head_lr": 3.0}, "head_lr = 3"),
        ({"method": "fedbarlow", "head_lr": 1e-5}, "head_lr = 1e-05"),
    ],
)
def test_a_setting_of_a_method_beyond_the_bounds_is_named(stage, said):
    (found,) = outside(plan(stages=[{"rounds": 2, **stage}]), client(256))
    assert found.startswith(f"stages.0.{said} is not from")


def test_many_stages_of_few_rounds_are_counted_together():
    long = [{"method": "supervised", "rounds": 6000}] * 2
    assert outside(plan(stages=long), client(256)) == [
        "the number of rounds = 12000 is not from 1 to 10000"
    ]
    many = [{"method": "supervised", "rounds": 1}] * 21
    assert "the number of stages = 21" in outside(plan(stages=many), client(256))[0]


_MOST = {
    "width": BOUNDS.number,
    "num_classes": BOUNDS.number,
    "image_size": BOUNDS.side,
    "size": BOUNDS.side,
    "mean": BOUNDS.magnitude,
}
_any = st.one_of(
    st.integers(-1, BOUNDS.number + 1),
    st.integers(),
    st.integers(10**300, 10**310),
    st.floats(),
    st.text(),
    st.booleans(),
)


@settings(max_examples=100, deadline=None)
@given(_any, st.sampled_from(sorted(_MOST)))
@example(1, "width")
@example(256, "width")
@example(BOUNDS.number, "num_classes")
@example(BOUNDS.number + 1, "num_classes")
@example(BOUNDS.side, "image_size")
@example(BOUNDS.side + 1, "size")
@example(-BOUNDS.magnitude, "mean")
def test_odd_numbers_in_a_plan_are_refused_and_never_raise_and_others_pass(value, name):
    blueprint = plan()
    # What `read_blueprint` lets through; its dataclasses check little of their types.
    model, views = replace(blueprint.model), replace(blueprint.views)
    owner = model if hasattr(model, name) else views
    odd = (value,) * 3 if name == "mean" else value
    object.__setattr__(owner, name, odd)
    object.__setattr__(blueprint, "model", model)
    object.__setattr__(blueprint, "views", views)
    # How many weights come of a width is bounded as well, see below.
    found = [
        why
        for why in outside(blueprint, client(256))
        if not why.startswith("the number of weights")
    ]
    kinds = (int, float) if name == "mean" else (int,)
    least = -BOUNDS.magnitude if name == "mean" else 1
    passes = type(value) in kinds and least <= value <= _MOST[name]
    assert bool(found) is not passes


def test_a_width_within_the_bounds_may_make_too_many_weights():
    wide = replace(plan(), model=replace(plan().model, width=BOUNDS.number))
    (found,) = outside(wide, client(256))
    assert found.startswith("the number of weights = ")
    assert found.endswith(" is not from 1 to 1e+08")


def test_a_site_hides_among_as_many_in_a_group_as_in_the_federation():
    grouped = plan(privacy={"masked": True, "groups": 2})
    assert outside(grouped, client(256)) == []
    shy = replace(BOUNDS, sites=5)
    (found,) = shy.outside(grouped, client(256))
    assert found.bound == "sites"
    assert "privacy.least_sites = 3 lets so few sites make a masked sum" in found.why
    enough = plan(privacy={"masked": True, "groups": 2, "least_sites": 5})
    assert list(shy.outside(enough, client(256))) == []


def test_a_masked_sum_is_of_as_many_sites_as_the_owner_asks_for():
    """What a coordinator says of the federation, nobody can check; `least_sites` holds.

    Without masks there is no sum at the site to hold to.
    """
    shy = replace(BOUNDS, sites=10)
    (found,) = shy.outside(plan(privacy={"masked": True}), client(256))
    assert found.bound == "sites" and found.why.endswith("a masked sum, not 10")
    for enough in ({"masked": True, "least_sites": 10}, {"masked": False}):
        assert list(shy.outside(plan(privacy=enough), client(256))) == []


def _run(*arguments):
    return CliRunner().invoke(app, [str(a) for a in arguments], catch_exceptions=False)


@pytest.fixture
def dealt(simulation, tmp_path):
    """Folders of a coordinator and four sites of five images and more."""
    deal_out(simulation, tmp_path / "trial")
    return tmp_path / "trial"


def test_who_deals_images_out_agrees_for_the_sites(dealt, simulation):
    """A dealer has seen the images; from then on no other plan is answered."""
    for number in range(3):
        agreed = json.loads((dealt / f"site-{number}" / AGREED).read_text())
        assert agreed["plan_sha256"] == simulation.sha256
        assert agreed["agreed_by"] == "fedsemi deal"


def test_agree_shows_what_is_agreed_to(dealt, simulation):
    shown = _run("agree", dealt / "site-0").output
    assert f"agreed to plan {simulation.sha256[:12]}" in shown
    (dealt / "site-0" / AGREED).unlink()
    assert "agreed to no plan yet" in _run("agree", dealt / "site-0").output


def test_agree_names_what_is_beyond_the_bounds(tmp_path, simulation):
    site = Site(simulation.federation.clients[1], simulation.class_names)
    folder, path = write_site(tmp_path / "site", site), tmp_path / "plan.json"
    content = json.loads(simulation.as_json())
    content["experiment"]["local"]["batch_size"] = 1000
    path.write_text(json.dumps(content))
    with pytest.raises(ProtocolError, match=r"FS2130 .*batch_size = 1000"):
        _run("agree", folder, path)
    assert not (folder / AGREED).exists()
    shown = _run("agree", folder, path, "--beyond-bounds").output
    assert "beyond the bounds: stages.0: batch_size = 1000" in shown
    agreed = json.loads((folder / AGREED).read_text())
    assert agreed["plan_sha256"] == read_blueprint(path.read_bytes()).sha256
