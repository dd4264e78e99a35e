import os
import sys
import time
from pathlib import Path

import pytest
import torch
from torch import nn

from fedsemi.data.datasets import DATASETS, load, search_path
from fedsemi.data.readers import installed, isic18_split, long_tail, svhn, synthetic
from fedsemi.data.readers.files import CHECKSUMS
from fedsemi.data.readers.mnist import FILES as MNIST
from fedsemi.errors import DataError
from fedsemi.evidence.notes import NOTES

DOCS = Path(__file__).parents[2] / "docs"
SHARED = Path(os.environ.get("FEDSEMI_DATA", "data")).absolute()
compact = pytest.mark.skipif(
    not (SHARED / "svhn.npz").exists(),
    reason=f"the compact data files are not in {SHARED}",
)


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    """Look for no data on this machine, and leave nothing at home."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("FEDSEMI_DATA", raising=False)


def test_a_named_folder_is_the_only_one(monkeypatch):
    monkeypatch.setenv("FEDSEMI_DATA", "/from/environment")
    assert search_path(Path("/named")) == [Path("/named")]
    assert search_path() == [Path("/from/environment")]


def test_without_a_name_the_usual_folders_are_searched(tmp_path):
    home = tmp_path / "home" / ".cache" / "fedsemi"
    assert search_path() == [Path("data"), home]


def test_an_empty_variable_counts_as_unset(monkeypatch):
    monkeypatch.setenv("FEDSEMI_DATA", "")
    assert search_path()[0] == Path("data")


@pytest.mark.parametrize(
    "name", [name for name, source in DATASETS.items() if source.find]
)
def test_a_missing_data_set_says_where_to_look_what_to_get_and_what_to_run(
    name, tmp_path
):
    with pytest.raises(DataError) as raised:
        load(name)
    message = str(raised.value)
    assert message.startswith(f"FS3001 data set '{name}' was not found in {tmp_path}")
    assert str(tmp_path / "home" / ".cache" / "fedsemi") in message
    assert DATASETS[name].where in message
    assert message.endswith("then run the same command again")
    assert "\n" not in message


def test_an_unknown_name_gets_the_nearest_known_one():
    with pytest.raises(DataError, match=r"FS3003 unknown data set 'svnh' .*'svhn'"):
        load("svnh")


def test_an_unknown_split_or_size_is_refused():
    with pytest.raises(DataError, match=r"FS3005 .*'leison' \(did you mean 'lesion'"):
        load("isic18", split="leison")
    with pytest.raises(DataError, match=r"FS3005 .*'digits' has no split 'lesion'"):
        load("digits", split="lesion")
    with pytest.raises(DataError, match="FS3005 image_size = 0"):
        load("digits", image_size=0)


def test_the_table_is_complete():
    for name, source in DATASETS.items():
        assert source.name == name
        assert source.description and source.license and source.where
        assert len(set(source.class_names)) == len(source.class_names)
    assert set(svhn.FILES) <= set(CHECKSUMS)


@pytest.mark.parametrize(
    ("name", "files"),
    [
        ("svhn", ["svhn/svhn.npz"]),
        ("svhn", ["train_32x32.mat", "svhn/test_32x32.mat"]),
        ("cifar10", ["cifar-10-batches-bin/data_batch_1.bin"]),
        ("cifar100-lt", ["cifar100/cifar-100-binary.tar.gz"]),
        ("cifar100", ["cifar100.npz"]),
        ("mnist", [f"MNIST/raw/{name.removesuffix('.gz')}" for name in MNIST[:-1]]),
        ("isic18", ["HAM10000_metadata.csv", "HAM10000_images_part_1/1.jpg"]),
        ("isic18", ["isic18/isic18.npz", "isic18/isic18.csv"]),
    ],
)
def test_a_data_set_is_at_hand_if_all_that_its_reader_opens_is(name, files, tmp_path):
    source = DATASETS[name]
    for file in files:
        assert not source.at_hand([tmp_path])
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).touch()
    assert source.at_hand([tmp_path / "elsewhere", tmp_path])
    with pytest.raises(DataError, match=r"FS300[24]"):  # these are empty, but opened
        load(name, tmp_path)


def test_synthetic_images_are_always_the_same_and_quickly_made():
    load("synthetic")
    started = time.process_time()
    dataset = load("synthetic")
    assert (
        time.process_time() - started < 0.5
    )  # 15 ms on an idle core; tests share theirs
    assert dataset.sha256 == load("synthetic").sha256
    assert dataset.train.images.shape == (synthetic.NUM_TRAIN, 3, 12, 12)
    assert dataset.train.labels.bincount().min() > 100


@pytest.fixture
def one_thread():
    """For layers this small, a second thread costs more than it gives."""
    before = torch.get_num_threads()
    yield torch.set_num_threads(1)
    torch.set_num_threads(before)


@pytest.mark.usefixtures("one_thread")
def test_synthetic_images_are_learned_by_a_tiny_network():
    dataset = load("synthetic")
    torch.manual_seed(0)
    network = nn.Sequential(
        nn.Conv2d(3, 12, 3), nn.ReLU(), nn.Conv2d(12, 12, 3, 2), nn.ReLU(),
        nn.AdaptiveAvgPool2d(2), nn.Flatten(), nn.Linear(48, 4),
    )  # fmt: skip
    optimizer = torch.optim.Adam(network.parameters(), 1e-2)
    images = dataset.train.images[:200] / 255 - 0.5
    for _ in range(50):
        optimizer.zero_grad()
        logits = network(images)
        nn.functional.cross_entropy(logits, dataset.train.labels[:200]).backward()
        optimizer.step()
    guess = network(dataset.test.images / 255 - 0.5).argmax(1)
    assert (guess == dataset.test.labels).float().mean() > 0.8


def test_digits_have_a_fixed_stratified_test_part():
    dataset = load("digits")
    assert (len(dataset.train), len(dataset.test)) == DATASETS["digits"].counts
    assert dataset.train.images.shape[1:] == (1, 8, 8)
    assert dataset.train.images.max() == 255
    assert dataset.sha256 == load("digits").sha256
    every = torch.cat([dataset.train.labels, dataset.test.labels]).bincount()
    assert (dataset.test.labels.bincount() / every - 0.2).abs().max() < 0.01


def test_solar_cells_are_averaged_down_and_read_once():
    pytest.importorskip("elpv_dataset", reason="elpv-dataset is not installed")
    dataset = load("elpv")
    assert (len(dataset.train), len(dataset.test)) == DATASETS["elpv"].counts
    assert dataset.train.images.shape[1:] == (1, 48, 48)
    assert dataset.image_size == 48
    # 1,074 cells are mono and 1,550 poly; 821 have a defect probability over one half.
    every = torch.cat([dataset.train.labels, dataset.test.labels]).bincount()
    assert every.tolist() == [705, 369, 1098, 452]
    assert load("elpv") is dataset


def test_without_its_package_the_solar_cells_name_the_command(monkeypatch):
    installed._elpv.cache_clear()
    monkeypatch.setitem(sys.modules, "elpv_dataset", None)
    with pytest.raises(DataError, match=r'run: pip install "fedsemi\[elpv\]"'):
        load("elpv")


@compact
@pytest.mark.parametrize(
    ("name", "train", "test", "side"),
    [
        ("svhn", 36_000, 10_000, 32),
        ("cifar100", 22_653, 10_000, 32),
        ("cifar100-lt", 10_847, 10_000, 32),
        ("mnist", 60_000, 10_000, 28),
        ("isic18", 8_012, 2_003, 32),
    ],
)
def test_compact_files_are_read(name, train, test, side):
    dataset = load(name, SHARED)
    assert (len(dataset.train), len(dataset.test)) == (train, test)
    assert dataset.train.images.shape[-1] == dataset.image_size == side
    assert dataset.class_names == DATASETS[name].class_names
    # The published constants fit the pixels: channels and scale are right.
    pixels = dataset.train.images[::7] / 255
    assert torch.allclose(pixels.mean((0, 2, 3)), torch.tensor(dataset.mean), atol=0.02)


@compact
def test_compact_long_tail_has_the_profile():
    counts = load("cifar100-lt", SHARED).train.labels.bincount()
    assert counts.tolist() == long_tail.profile(100).tolist()


@compact
def test_compact_isic_has_the_literatures_counts_and_subgroups():
    dataset = load("isic18", SHARED)
    assert tuple(dataset.train.labels.bincount().tolist()) == isic18_split.TRAIN_COUNTS
    assert tuple(dataset.test.labels.bincount().tolist()) == isic18_split.TEST_COUNTS
    assert set(dataset.test_metadata) == {"age", "sex", "site"}
    assert len(dataset.test_metadata["sex"]) == 2003
    assert len(dataset.groups) == 8012


@compact
def test_as_many_isic_images_share_a_lesion_across_the_split_as_pages_say():
    dataset = load("isic18", SHARED)
    shared = torch.isin(dataset.test_groups, dataset.groups).sum().item()
    said = f"share a lesion with a training image, {shared} of ours"
    assert said in NOTES["leak"]
    for page in ("protocol.md", "concordance.md"):
        assert said in (DOCS / page).read_text("utf-8")


@compact
def test_compact_isic_by_lesion_has_the_usual_sizes():
    dataset = load("isic18", SHARED, split="lesion")
    assert len(dataset.train) + len(dataset.test) == 10_015
    assert 1900 < len(dataset.test) < 2100
    assert dataset.test.labels.bincount().min() > 15


@compact
def test_the_folder_can_come_from_the_environment(monkeypatch):
    monkeypatch.setenv("FEDSEMI_DATA", str(SHARED))
    assert load("isic18", image_size=16).train.images.shape[-1] == 16


def test_a_damaged_compact_file_is_named(tmp_path):
    (tmp_path / "svhn.npz").write_bytes(b"cut off")
    with pytest.raises(DataError, match=r"FS3002 .*svhn\.npz is damaged or another"):
        load("svhn", tmp_path)
