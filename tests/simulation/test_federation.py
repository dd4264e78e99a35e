"""A federation deals images out: labels only where the partition says so."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from fedsemi.errors import DataError
from fedsemi.simulation.build import Simulation
from fedsemi.simulation.federation import make_federation


def test_a_client_that_is_left_out_is_gone_and_the_others_keep_their_ids(
    simulation: Simulation,
) -> None:
    whole = simulation.federation
    rest = whole.without(2)
    assert [client.id for client in rest.clients] == [0, 1, 3]
    assert rest.test is whole.test and rest.oracle is whole.oracle
    assert len(whole.clients) == 4, "the whole one is as it was"


def test_who_is_left_out_takes_along_what_it_held_out(simulation: Simulation) -> None:
    """Alarms and guard judge a model by these labels, which it shall do without."""
    test = simulation.federation.test
    whole = replace(simulation.federation, held_out={0: test, 1: test})
    assert set(whole.without(0).held_out) == {1}
    assert set(whole.without(2).held_out) == {0, 1}
    assert set(whole.held_out) == {0, 1}


def test_nobody_can_be_left_out_who_is_not_there(simulation: Simulation) -> None:
    with pytest.raises(DataError, match="FS3013 there is no client 9 to leave out"):
        simulation.federation.without(9)


def test_every_image_is_dealt_once_and_the_oracle_alone_knows_hidden_labels(
    simulation: Simulation,
) -> None:
    federation, partition = simulation.federation, simulation.partition
    assert federation.oracle is not None
    dealt = sum(c.num_labeled + c.num_unlabeled for c in federation.clients)
    assert dealt == sum(len(i.labeled) + len(i.unlabeled) for i in partition.clients)
    for client in federation.clients:
        assert len(federation.oracle.truth[client.id]) == client.num_unlabeled
        assert len(client.labels) == client.num_labeled


def test_what_is_held_out_is_learned_from_by_nobody(simulation: Simulation) -> None:
    from fedsemi.simulation.build import load_dataset

    dataset = load_dataset(simulation.experiment)
    plain = make_federation(dataset, simulation.partition)
    apart = make_federation(dataset, simulation.partition, 0.25, seed=1)
    assert plain.held_out == {}
    for before, client in zip(plain.clients, apart.clients, strict=True):
        kept = apart.held_out.get(client.id)
        number = 0 if kept is None else len(kept)
        assert client.num_labeled + number == before.num_labeled
        assert torch.equal(client.unlabeled_images, before.unlabeled_images)
        if kept is not None:
            assert number == pytest.approx(0.25 * before.num_labeled, abs=1)
            learned = {image.numpy().tobytes() for image in client.labeled_images}
            assert not learned & {np.asarray(i).tobytes() for i in kept.images}
