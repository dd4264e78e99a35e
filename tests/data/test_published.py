import os
import pickle

import numpy as np
import pytest
import torch

from fedsemi.data.partition import load_published
from fedsemi.data.published import read_published
from fedsemi.errors import DataError


@pytest.mark.parametrize("zipped", [True, False])
def test_plain_file_gives_its_clients_with_client_zero_labeled(tmp_path, zipped):
    path = tmp_path / "svhn.pth"
    content = {"data_partition": {1: [3, 4], 0: [2, 0, 1]}}
    torch.save(content, path, _use_new_zipfile_serialization=zipped)
    published = load_published(path)
    first, second = published.partition.clients
    assert first.labeled.tolist() == [2, 0, 1]
    assert second.unlabeled.tolist() == [3, 4]
    assert published.train_rows is None


def test_skin_file_also_gives_the_split(tmp_path):
    path = tmp_path / "skin.pth"
    content = {"data_partition": {0: [0], 1: [1]}, "train_list": [5, 7]}
    torch.save({**content, "test_list": [6]}, path)
    published = load_published(path, labeled_clients="all")
    assert published.train_rows.tolist() == [5, 7]
    assert published.test_rows.tolist() == [6]
    assert published.partition.labeled_share == 1


def test_partially_labeled_file_keeps_both_parts(tmp_path):
    path = tmp_path / "partly.pth"
    torch.save({"labeled": {0: [1], 1: [4]}, "unlabeled": {0: [0, 2], 1: [3]}}, path)
    clients = load_published(path).partition.clients
    assert [c.labeled.tolist() for c in clients] == [[1], [4]]
    assert [c.unlabeled.tolist() for c in clients] == [[0, 2], [3]]


@pytest.mark.parametrize(
    ("sizes", "total", "percent"),
    [
        # SVHN, CIFAR-100 and ISIC-18 as published; the paper's text says 5 %.
        (
            [6621, 4594, 7578, 7972, 9178, 7781, 8852, 6374, 8311, 5996],
            73_257,
            9.04,
        ),
        (
            [5101, 5079, 5071, 4565, 5040, 5097, 4941, 5098, 5000, 5008],
            50_000,
            10.20,
        ),
        ([589, 2567, 583, 231, 348, 1204, 567, 939, 484, 500], 8_012, 7.35),
    ],
)
def test_published_sizes_give_the_published_labeled_share(
    tmp_path, sizes, total, percent
):
    rows = np.split(np.random.default_rng(0).permutation(total), np.cumsum(sizes)[:-1])
    path = tmp_path / "published.pth"
    torch.save({"data_partition": {i: r.tolist() for i, r in enumerate(rows)}}, path)
    partition = load_published(path).partition
    assert [len(client) for client in partition.clients] == sizes
    assert [client.rows.tolist() for client in partition.clients] == [
        r.tolist() for r in rows
    ]
    assert 100 * partition.labeled_share == pytest.approx(percent, abs=0.005)


@pytest.mark.parametrize("as_rows", [list, np.array])
def test_long_tailed_file_is_a_plain_pickle(tmp_path, as_rows):
    path = tmp_path / "lt.pth"
    clients = {0: as_rows([0, 1]), 1: as_rows([2])}
    path.write_bytes(pickle.dumps((clients, as_rows([10, 20, 30]))))
    index = read_published(path)
    assert [rows.tolist() for rows in index.rows] == [[0, 1], [2]]
    assert index.train_rows.tolist() == [10, 20, 30]


class Attack:
    def __init__(self, command):
        self.command = command

    def __reduce__(self):
        return os.system, (self.command,)


@pytest.mark.parametrize("by_torch", [True, False])
def test_a_file_that_would_run_code_is_refused(tmp_path, by_torch):
    path, mark = tmp_path / "evil.pth", tmp_path / "ran"
    content = {"data_partition": Attack(f"touch {mark}")}
    if by_torch:
        torch.save(content, path)
    else:
        path.write_bytes(pickle.dumps(content))
    with pytest.raises(DataError, match="FS3012"):
        read_published(path)
    assert not mark.exists()


@pytest.mark.parametrize(
    "content",
    [
        {},
        [1, 2],
        {"data_partition": [1]},
        {"data_partition": {1: [0]}},
        {"data_partition": {0: [0.5]}},
        {"labeled": {0: [1]}},
    ],
)
def test_other_content_is_refused(tmp_path, content):
    path = tmp_path / "other.pth"
    torch.save(content, path)
    with pytest.raises(DataError, match=r"FS3012 .* is no published index file"):
        read_published(path)


def test_damaged_and_missing_files_are_refused(tmp_path):
    (tmp_path / "damaged.pth").write_bytes(b"\x80\x02nonsense")
    for name in ("damaged.pth", "absent.pth"):
        with pytest.raises(DataError, match=f"FS3012 .*{name}"):
            read_published(tmp_path / name)
