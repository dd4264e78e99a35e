import dataclasses

import pytest

from fedsemi.config.experiment import make_experiment
from fedsemi.data.dataset import UNKNOWN
from fedsemi.simulation.build import build
from fedsemi.simulation.linear_probe import linear_probe


@pytest.fixture(scope="module")
def simulation():
    return build(
        make_experiment(
            {
                "data": {"name": "synthetic", "train_limit": 200, "test_limit": 60},
                "partition": {"num_clients": 3},
                "model": {"name": "resnet8", "width": 4},
                "stages": [{"method": "supervised", "rounds": 1}],
            }
        )
    )


def _probe(simulation, labels):
    setup = simulation.setup(simulation.experiment.stages[0])
    return linear_probe(simulation, setup, simulation.initial_weights(), labels)


def test_upper_uses_all_labels_and_lower_those_of_labeled_clients(simulation):
    labeled = sum(client.num_labeled for client in simulation.federation.clients)
    assert _probe(simulation, "all").num_labels == 200
    assert _probe(simulation, "labeled").num_labels == labeled < 200


def test_images_that_nobody_has_labeled_are_left_out(simulation):
    train = simulation.dataset.train
    labels = train.labels.clone()
    labels[50:] = UNKNOWN
    dataset = dataclasses.replace(
        simulation.dataset, train=dataclasses.replace(train, labels=labels)
    )
    real = dataclasses.replace(simulation, dataset=dataset)
    assert _probe(real, "all").num_labels == 50


def test_the_probe_beats_chance_even_on_random_features(simulation):
    assert _probe(simulation, "all").test.accuracy > 0.3


def test_the_choice_of_the_epoch_ignores_the_test_set(simulation):
    test = simulation.federation.test
    wrong = dataclasses.replace(test, labels=test.labels.flip(0))
    federation = dataclasses.replace(simulation.federation, test=wrong)
    other = dataclasses.replace(simulation, federation=federation)
    a, b = _probe(simulation, "all"), _probe(other, "all")
    assert (a.epoch, a.held_out_accuracy) == (b.epoch, b.held_out_accuracy)
    assert a.test.accuracy != b.test.accuracy
