"""Labels that are few: of each class, at every client or at the server."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fedsemi.data.few_labels import at_every_client, at_server
from fedsemi.data.partition import make_partition
from fedsemi.errors import DataError

LABELS = np.random.default_rng(5).integers(4, size=400)


@given(seed=st.integers(0, 1000), per_class=st.integers(1, 8))
@settings(max_examples=30, deadline=None)
def test_every_client_has_so_many_labels_of_a_class_or_all_that_it_owns(
    seed, per_class
):
    dealt = make_partition(LABELS, 4, num_clients=5, min_size=2, seed=seed)
    few = at_every_client(dealt, LABELS, per_class, seed)
    owned = dealt.table(LABELS, 4)
    for k, client in enumerate(few.clients):
        labeled = np.bincount(LABELS[client.labeled], minlength=4)
        assert labeled.tolist() == np.minimum(owned[k], per_class).tolist()
        assert set(client.rows.tolist()) == set(dealt.clients[k].rows.tolist())
        assert not set(client.labeled.tolist()) & set(client.unlabeled.tolist())


@given(seed=st.integers(0, 1000), per_class=st.integers(1, 8))
@settings(max_examples=30, deadline=None)
def test_the_server_has_its_labels_and_clients_have_all_the_rest_without(
    seed, per_class
):
    deal = partial(make_partition, num_classes=4, num_clients=5, min_size=2, seed=seed)
    server, *clients = at_server(LABELS, per_class, seed, deal).clients
    assert np.bincount(LABELS[server.labeled]).tolist() == [per_class] * 4
    assert not len(server.unlabeled) and len(clients) == 5
    assert not any(len(client.labeled) for client in clients)
    rows = np.concatenate([server.labeled, *(c.unlabeled for c in clients)])
    assert np.array_equal(np.sort(rows), np.arange(400))


def test_the_draw_depends_on_the_seed_alone():
    dealt = make_partition(LABELS, 4, num_clients=5)
    first, again, other = (at_every_client(dealt, LABELS, 3, s) for s in (1, 1, 2))
    assert first.sha256 == again.sha256 != other.sha256


def test_a_server_that_wants_all_of_a_class_is_refused():
    labels = np.array([0] * 30 + [1] * 4)
    deal = partial(make_partition, num_classes=2, num_clients=2)
    with pytest.raises(DataError, match=r"FS3010 .*class 1 has 4 images"):
        at_server(labels, 4, 0, deal)
