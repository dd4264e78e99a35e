"""Who plays in the lab: parts of the images, sites, and what they are asked."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import torch

from fedsemi.config.experiment import Experiment, make_experiment
from fedsemi.data.dataset import Dataset
from fedsemi.errors import ConfigError
from fedsemi.leakage.scene import (
    check_can_be_dealt,
    deal,
    last_tasks,
    share_out,
    warmed,
)
from fedsemi.storage import read_weights
from fedsemi.weights import digest

from .conftest import content


def marked(dataset: Dataset) -> Dataset:
    """Make every image tell which row it is."""
    images = dataset.train.images.clone()
    rows = torch.arange(len(images))
    images[:, 0, 0, 0], images[:, 0, 0, 1] = rows // 256, rows % 256
    return replace(dataset, train=replace(dataset.train, images=images.byte()))


def rows_of(part: Dataset) -> set[int]:
    corner = part.train.images[:, 0, 0, :2].int()
    return set((corner[:, 0] * 256 + corner[:, 1]).tolist())


def test_nobody_shares_an_image_with_anybody_else(digits: Dataset) -> None:
    parts = share_out(marked(digits), seed=1)
    sets = [rows_of(p) for p in (parts.federation, parts.judged, *parts.server)]
    assert sum(map(len, sets)) == len(set().union(*sets)) == len(digits.train)
    assert max(map(len, sets)) - min(map(len, sets)) <= 1


def test_images_of_one_object_stay_in_one_part(digits: Dataset) -> None:
    groups = torch.arange(len(digits.train)) // 5
    parts = share_out(replace(digits, groups=groups), seed=1)
    found = [
        set(p.groups.tolist())  # type: ignore[union-attr]
        for p in (parts.federation, parts.judged, *parts.server)
    ]
    assert sum(map(len, found)) == len(set().union(*found))


def test_sites_are_dealt_until_they_suffice_and_the_oracle_knows_them(
    experiment: Experiment, digits: Dataset
) -> None:
    part = share_out(digits, 1).judged
    sites = deal(experiment, part, "unlabeled", 25, seed=3)
    assert len(sites) == 25  # of three deals, with eleven unlabeled sites each
    for site in sites:
        assert not site.client.num_labeled
        images = part.train.images[torch.from_numpy(site.rows)]
        assert torch.equal(images, site.client.unlabeled_images)
        assert torch.equal(part.train.labels[torch.from_numpy(site.rows)], site.truth)


def test_sites_with_labels_are_dealt_where_labels_are_asked_for(
    experiment: Experiment, digits: Dataset
) -> None:
    sites = deal(experiment, share_out(digits, 1).judged, "labeled", 12, seed=3)
    assert all(site.client.num_labeled == len(site.rows) for site in sites)


def test_a_federation_without_unlabeled_sites_has_nobody_to_judge(
    digits: Dataset,
) -> None:
    partition = content()["partition"] | {"labeled_clients": "all"}
    everybody = make_experiment(content(partition=partition))
    with pytest.raises(ConfigError, match=r"no site of the config is unlabeled"):
        deal(everybody, digits, "unlabeled", 3, seed=1)


def test_each_kind_of_site_is_asked_what_the_last_round_asked(
    digits: Dataset, experiment: Experiment
) -> None:
    part = share_out(digits, 1).federation
    assert set(last_tasks(experiment, part)) == {"labeled", "unlabeled"}
    labels = make_experiment(content("supervised"))
    assert set(last_tasks(labels, part)) == {"labeled"}


def test_what_comes_before_the_last_stage_is_trained_once(
    tmp_path: Path, digits: Dataset
) -> None:
    part = share_out(digits, 1).federation
    before = {"method": "supervised", "rounds": 1}
    starts = []
    for method in ("semianagg", "fedavg-semi"):
        stages = [before, {"method": method, "rounds": 1}]
        last = warmed(make_experiment(content(stages=stages)), part, tmp_path)
        assert [stage.method for stage in last.stages] == [method]
        starts.append(last.start)
    (path,) = tmp_path.iterdir()
    assert starts == [str(path)] * 2
    fresh = make_experiment(content(stages=[before]))
    assert digest(read_weights(path)) != digest(
        last_tasks(fresh, part)["labeled"].weights
    )


def test_images_that_nobody_can_deal_anew_are_refused() -> None:
    fixed = {"partition": {"file": "published.pth"}}
    with pytest.raises(ConfigError, match=r"partition.file does not allow") as caught:
        check_can_be_dealt(make_experiment(content(**fixed)))
    assert caught.value.code == "FS6300"
