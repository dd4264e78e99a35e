"""[setting]: what goes with a card, and what a run under another one says."""

from __future__ import annotations

from typing import Any

import pytest

from fedsemi.config.experiment import Experiment, make_experiment
from fedsemi.config.setting import departures, own_conditions
from fedsemi.errors import ConfigError, DataError
from fedsemi.messages import ClientInfo
from fedsemi.simulation.build import assemble, build


def experiment(**sections: Any) -> Experiment:
    return make_experiment(
        {
            "data": {"name": "synthetic", "train_limit": 120, "test_limit": 8},
            "model": {"name": "resnet8", "width": 2},
            "stages": [{"method": "rscfed", "rounds": 1}],
            "partition": {"num_clients": 3, "scheme": "iid"},
            **sections,
        }
    )


def sizes(**sections: Any) -> list[tuple[int, int]]:
    return [
        (client.num_labeled, client.num_unlabeled)
        for client in build(experiment(**sections)).federation.clients
    ]


def test_a_setting_at_its_default_leaves_the_name_of_an_experiment_alone():
    assert experiment(setting={}).sha256 == experiment().sha256
    assert experiment(setting={"card": "LAC"}).sha256 != experiment().sha256


def test_lc_has_whole_clients():
    assert sizes() == sizes(setting={"card": "LC"}) == [(40, 0), (0, 40), (0, 40)]


def test_lpc_labels_a_tenth_of_every_client_unless_the_config_says_another_part():
    assert sizes(setting={"card": "LPC"}) == [(4, 36)] * 3
    half = {"num_clients": 3, "scheme": "iid", "labeled_fraction": 0.5}
    assert sizes(setting={"card": "LPC"}, partition=half) == [(20, 20)] * 3


def test_lac_labels_a_few_of_each_class_at_every_client():
    # Synthetic images have four classes.
    assert sizes(setting={"card": "LAC", "labels_per_class": 2}) == [(8, 32)] * 3


def test_ls_gives_labels_to_the_server_alone_which_comes_before_the_clients():
    found = sizes(setting={"card": "LS", "labels_per_class": 3})
    assert found == [(12, 0), (0, 36), (0, 36), (0, 36)]


@pytest.mark.parametrize(
    ("setting", "partition", "named"),
    [
        ({"card": "LC"}, {"labeled_fraction": 0.1}, "partition.labeled_fraction"),
        ({"card": "LS"}, {"labeled_fraction": 0.1}, "partition.labeled_fraction"),
        ({"card": "LAC"}, {"labeled_clients": 2}, "partition.labeled_clients"),
        ({"labels_per_class": 4}, {}, "setting.labels_per_class"),
        ({"card": "LPC", "labels_per_class": 4}, {}, "setting.labels_per_class"),
    ],
)
def test_what_contradicts_a_card_is_refused_by_name(setting, partition, named):
    with pytest.raises(ConfigError, match=f"FS4500 {named} has no meaning"):
        experiment(setting=setting, partition=partition)


def test_data_that_does_not_fit_the_card_is_refused():
    lac = experiment(setting={"card": "LAC"})
    lc = build(experiment())
    with pytest.raises(DataError, match=r"FS4501 .* client 1 has no labels"):
        assemble(lac, lc.dataset, lc.partition)


def test_a_method_under_another_card_says_so_in_one_line():
    two = [{"method": name, "rounds": 1} for name in ("supervised", "rscfed")]
    few = [ClientInfo(0, 5, 20), ClientInfo(1, 5, 20)]
    assert departures(experiment(stages=two), few) == [
        "rscfed is made for LC (whole clients are labeled, others not at all); this is "
        "LPC (every client is labeled in part)"
    ]
    assert departures(experiment(stages=two), [ClientInfo(0, 5, 0)]) == []
    assert departures(experiment(), []) == []
    (line,) = departures(experiment(setting={"card": "LS"}), [])
    assert line.endswith("this is LS (labels at the server only)")


def test_a_config_under_a_card_says_in_one_line_where_it_departs_from_its_papers():
    semifl = {"method": "semifl", "rounds": 1}
    named = {"card": "LS", "labels_per_class": 3}
    small = experiment(setting=named, stages=[{**semifl, "participation": 0.5}])
    assert own_conditions(small) == [
        "this is not as in the papers behind card LS: participation is 0.5, not 0.1; "
        "local.epochs is 1, not 5; setting.labels_per_class is 3, not 25"
    ]
    (line,) = own_conditions(experiment(setting={"card": "LAC"}, stages=[semifl]))
    assert line.endswith(": participation is 1, not 0.4; local.epochs is 1, not 5")


def test_a_config_as_in_the_papers_and_one_without_a_card_say_nothing():
    stage = {"method": "semifl", "rounds": 1, "participation": 0.1}
    as_said = experiment(setting={"card": "LS"}, local={"epochs": 5}, stages=[stage])
    assert own_conditions(as_said) == []
    assert own_conditions(experiment(local={"epochs": 9})) == []
    assert own_conditions(experiment(setting={"card": "LC"})) == []


def test_stages_that_differ_are_both_named_and_a_part_of_all_labels_is_too():
    half = {"num_clients": 3, "scheme": "iid", "labeled_fraction": 0.5}
    own = {"method": "feddb", "rounds": 1, "local": {"epochs": 3}}
    two = [{"method": "supervised", "rounds": 1}, own]
    found = own_conditions(
        experiment(setting={"card": "LPC"}, partition=half, stages=two)
    )
    (line,) = found
    assert line.endswith(
        "local.epochs is 1 and 3, not 1; partition.labeled_fraction is 0.5, not 0.1"
    )
