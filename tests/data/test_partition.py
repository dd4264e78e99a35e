import json

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from fedsemi.data.partition import ClientIndex, Partition, make_partition
from fedsemi.errors import DataError, StorageError

GOLDEN = "0ffa255cf0ae1003dc355c93d7ca138d35b72c65e543f89b2878396cff258d4f"
LABELS = np.random.default_rng(5).integers(7, size=3000)


def owned(partition):
    return [set(client.rows.tolist()) for client in partition.clients]


@given(
    seed=st.integers(0, 2**32),
    num_clients=st.integers(1, 12),
    num_classes=st.integers(1, 12),
    alpha=st.sampled_from([0.3, 0.8, 2.0, 100.0]),
    scheme=st.sampled_from(["dirichlet", "iid"]),
    fraction=st.sampled_from([None, 0.1, 0.5]),
)
@settings(max_examples=60, deadline=None)
def test_every_image_goes_to_one_client_and_no_client_is_too_small(
    seed, num_clients, num_classes, alpha, scheme, fraction
):
    labels = np.random.default_rng(seed).integers(num_classes, size=600)
    partition = make_partition(
        labels,
        num_classes,
        scheme=scheme,
        num_clients=num_clients,
        dirichlet_alpha=alpha,
        labeled_fraction=fraction,
        min_size=5,
        seed=seed,
    )
    rows = np.concatenate([client.rows for client in partition.clients])
    assert np.array_equal(np.sort(rows), np.arange(600))
    assert min(len(client) for client in partition.clients) >= 5
    table = partition.table(labels, num_classes)
    assert np.array_equal(table.sum(0), np.bincount(labels, minlength=num_classes))


@given(seed=st.integers(0, 1000))
@settings(max_examples=30, deadline=None)
def test_a_client_full_before_a_class_gets_none_of_it(seed):
    labels = np.random.default_rng(seed).integers(20, size=2000)
    table = make_partition(labels, 20, num_clients=8, seed=seed).table(labels, 20)
    before = np.cumsum(table, axis=1) - table  # images of earlier classes, [K, C]
    assert not table[before >= 2000 / 8].any()


def test_late_classes_are_on_few_clients():
    labels = np.repeat(np.arange(100), 100)
    table = make_partition(labels, 100).table(labels, 100)
    owners = (table > 0).sum(0)  # [C]
    assert owners[:50].mean() > 9
    assert owners[-3:].mean() < 8


def test_same_seed_same_partition_and_another_seed_another():
    first, again = (make_partition(LABELS, 7, seed=3) for _ in range(2))
    assert first.sha256 == again.sha256
    assert first.sha256 != make_partition(LABELS, 7, seed=4).sha256


def test_partition_of_a_known_seed_never_changes():
    # Whoever has to change this value changes every published partition.
    labels = np.arange(1000) % 10
    assert make_partition(labels, 10, seed=1).sha256 == GOLDEN


def test_who_owns_what_does_not_depend_on_who_has_labels():
    one = make_partition(LABELS, 7, seed=3)
    bound = make_partition(LABELS, 7, seed=3, labeled_clients="all")
    chosen = make_partition(LABELS, 7, seed=3, labeled_clients=[4, 2])
    partly = make_partition(LABELS, 7, seed=3, labeled_fraction=0.1)
    assert owned(one) == owned(bound) == owned(chosen) == owned(partly)


def test_one_labeled_client_is_client_zero():
    clients = make_partition(LABELS, 7).clients
    assert len(clients[0].labeled) and not len(clients[0].unlabeled)
    assert all(not len(client.labeled) for client in clients[1:])


def test_several_labeled_clients_come_first():
    one = make_partition(LABELS, 7, seed=8)
    two = make_partition(LABELS, 7, seed=8, labeled_clients=2)
    has_labels = [len(client.labeled) > 0 for client in two.clients]
    assert has_labels == [True, True] + [False] * 8
    assert owned(two)[0] == owned(one)[0]


def test_labeled_clients_can_be_named():
    clients = make_partition(LABELS, 7, labeled_clients=[3, 5]).clients
    assert [k for k, client in enumerate(clients) if len(client.labeled)] == [3, 5]


def test_all_labeled_leaves_nothing_unlabeled():
    partition = make_partition(LABELS, 7, labeled_clients="all")
    assert partition.labeled_share == 1


def test_a_labeled_fraction_is_near_each_clients_own_class_mix():
    partition = make_partition(LABELS, 7, labeled_fraction=0.1)
    for client in partition.clients:
        assert len(client.labeled) == max(1, round(0.1 * len(client)))
        exact = 0.1 * np.bincount(LABELS[client.rows], minlength=7)
        given_labels = np.bincount(LABELS[client.labeled], minlength=7)
        assert (abs(given_labels - exact) < 1).all()


def test_iid_clients_are_of_equal_size_and_mix():
    partition = make_partition(LABELS, 7, scheme="iid")
    assert {len(client) for client in partition.clients} == {300}
    table = partition.table(LABELS, 7)
    assert table.min() > 15


def test_labels_may_be_a_tensor():
    tensor = make_partition(torch.from_numpy(LABELS), 7, seed=2)
    assert tensor.sha256 == make_partition(LABELS, 7, seed=2).sha256


def test_table_counts_labeled_and_unlabeled_images():
    partition = Partition(
        (
            ClientIndex(np.array([0, 1]), np.array([2])),
            ClientIndex(np.array([], dtype=np.int64), np.array([3, 4])),
        )
    )
    table = partition.table([0, 2, 2, 1, 1], 4)
    assert table.tolist() == [[1, 0, 2, 0], [0, 2, 0, 0]]
    assert partition.labeled_share == 2 / 5


def test_fingerprint_tells_labeled_from_unlabeled():
    rows, none = np.arange(4), np.arange(0)
    with_labels = Partition((ClientIndex(rows, none),))
    without = Partition((ClientIndex(none, rows),))
    assert with_labels.sha256 != without.sha256


def test_a_saved_partition_loads_as_it_was(tmp_path):
    partition = make_partition(LABELS, 7, labeled_fraction=0.1)
    partition.save(tmp_path / "p.json")
    loaded = Partition.load(tmp_path / "p.json")
    assert loaded.sha256 == partition.sha256
    assert loaded.clients[3].labeled.dtype == np.int64
    assert [path.name for path in tmp_path.iterdir()] == ["p.json"]


def test_an_edited_partition_is_refused(tmp_path):
    path = tmp_path / "p.json"
    make_partition(LABELS, 7).save(path)
    content = json.loads(path.read_text())
    content["clients"][0]["labeled"][0] += 1
    path.write_text(json.dumps(content))
    with pytest.raises(DataError, match=r"FS3012 .*p\.json is damaged or was edited"):
        Partition.load(path)


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"format": "fedsemi-partition-0"}', '{"clients": 3']
)
def test_a_file_that_is_no_partition_is_refused(tmp_path, text):
    path = tmp_path / "p.json"
    path.write_text(text)
    with pytest.raises(DataError, match="FS3012"):
        Partition.load(path)


def test_a_missing_partition_and_an_impossible_place_are_said(tmp_path):
    with pytest.raises(DataError, match="FS3012 cannot read the partition"):
        Partition.load(tmp_path / "absent.json")
    with pytest.raises(StorageError, match=r"FS1201 cannot write .*p\.json"):
        make_partition(LABELS, 7).save(tmp_path / "no" / "p.json")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"scheme": "dirichelt"}, "did you mean 'dirichlet'"),
        ({"num_clients": 0}, "num_clients = 0; at least 1"),
        ({"num_clients": 400}, "cannot give 400 clients 10 each"),
        ({"dirichlet_alpha": 0.0}, "dirichlet_alpha = 0.0; it must be above 0"),
        ({"labeled_clients": 0}, "labeled_clients = 0 does not fit 10 clients"),
        ({"labeled_clients": 11}, "labeled_clients = 11 does not fit"),
        ({"labeled_clients": [3, 3]}, "does not fit"),
        ({"labeled_clients": [-1]}, "does not fit"),
        ({"labeled_fraction": 1.5}, "it must be above 0 and at most 1"),
        ({"labeled_fraction": 0.1, "labeled_clients": 2}, "choose one"),
    ],
)
def test_impossible_settings_are_refused_with_the_remedy(changes, message):
    with pytest.raises(DataError, match=message):
        make_partition(LABELS, 7, **changes)


def test_labels_beyond_the_classes_are_refused():
    with pytest.raises(DataError, match="labels run from 0 to 6, but there are 6"):
        make_partition(LABELS, 6)
