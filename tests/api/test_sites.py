"""Sites in memory: how a run names them, and what of the truth it knows."""

from __future__ import annotations

import torch
from tests.api.conftest import pictures
from torch.utils.data import TensorDataset

import fedsemi
from fedsemi.config.experiment import make_experiment

STAGES = [{"method": "supervised", "rounds": 1}]


def simulation_of(sites: fedsemi.Sites):
    content = {"model": {"name": "resnet8", "width": 4}, "stages": STAGES}
    return sites.simulation(make_experiment({**sites.settings, **content}))


def test_arrays_know_no_truth_about_unlabeled_images(arrays: fedsemi.Sites) -> None:
    assert simulation_of(arrays).federation.oracle is None


def test_a_torch_data_set_knows_it_for_the_records_alone() -> None:
    images, labels = pictures(40)
    data = TensorDataset(torch.from_numpy(images), torch.from_numpy(labels))
    sites = fedsemi.sites_from_dataset(data, data, clients=[range(20), range(20, 40)])
    federation = simulation_of(sites).federation
    assert federation.oracle is not None
    assert federation.clients[1].num_labeled == 0
    assert federation.oracle.truth[1].tolist() == labels[20:].tolist()


def test_a_run_names_arrays_by_the_hashes_of_images_and_owners(
    arrays: fedsemi.Sites,
) -> None:
    simulation = simulation_of(arrays)
    assert arrays.settings["data"]["sha256"] == simulation.dataset.sha256
    assert arrays.settings["partition"] == {
        "num_clients": 3,
        "labeled_clients": [0],
        "sha256": simulation.partition.sha256,
    }


def test_sites_are_read_once_to_be_shown(monkeypatch) -> None:
    sites = fedsemi.sites_from("synthetic", num_clients=3)
    before = repr(sites)
    monkeypatch.setattr("fedsemi.api.sites.build", None)
    assert repr(sites) == before and len(sites) == 3
