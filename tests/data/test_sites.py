import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fedsemi.data.folder import read_site
from fedsemi.data.sites import hold_out, read_federation
from fedsemi.errors import DataError

from .pictures import make_site, save_picture
from .test_folder import wish


def two_sites(tmp_path: Path) -> tuple[Path, Path]:
    a = make_site(tmp_path / "a", {"cat": 10, "dog": 10})
    b = make_site(tmp_path / "b", {"": 6}, start=100)
    return a, b


def test_folders_become_clients_and_a_part_of_each_class_is_tested(
    tmp_path: Path,
) -> None:
    a, b = two_sites(tmp_path)
    made = read_federation(wish(a, b), image_size=8, pre_size=10, seed=1)
    assert [(len(c.labeled), len(c.unlabeled)) for c in made.partition.clients] == [
        (16, 0),
        (0, 6),
    ]
    assert made.dataset.test.labels.bincount().tolist() == [2, 2]
    assert made.dataset.train.labels.tolist().count(-1) == 6
    assert made.names == ("a", "b")
    assert made.notes == (
        "client 0 = a: 16 labeled, 0 unlabeled",
        "client 1 = b: 0 labeled, 6 unlabeled",
    )


def test_draw_depends_on_the_seed_alone(tmp_path: Path) -> None:
    a, b = two_sites(tmp_path)
    drawn = [read_federation(wish(a, b), 8, 10, seed).dataset.sha256 for seed in (1, 1)]
    assert drawn[0] == drawn[1]
    assert read_federation(wish(a, b), 8, 10, 2).dataset.sha256 != drawn[0]


def test_patients_and_duplicates_are_never_split(tmp_path: Path) -> None:
    root = tmp_path / "s"
    for patient in range(10):
        for view in range(3):
            value = 20 * patient + view
            save_picture(root / "cat" / f"P{patient}_{view}.png", value)
    for copy in range(20):
        save_picture(root / "dog" / f"{copy}.png", 250 + copy % 5)
    site = read_site(root, wish(root, patient="(P[0-9])_"), 8)
    for seed in range(20):
        out = hold_out(site, 0.3, seed)
        for unit in {g for g in site.groups if g}:
            assert (
                len(
                    {
                        bool(o)
                        for o, g in zip(out, site.groups, strict=True)
                        if g == unit
                    }
                )
                == 1
            )
        digests = np.array(site.pixel_digests)
        assert not set(digests[out]) & set(digests[~out])
        cats = site.labels.numpy() == 0
        assert out[cats].sum() == 9  # three patients of ten, three views each


def test_unlabeled_images_of_a_tested_patient_are_not_learned_from(
    tmp_path: Path,
) -> None:
    root = tmp_path / "s"
    for value in range(8):
        save_picture(root / f"{value}.png", value)
    rows = [f"{v}.png,{'cat' if v % 2 == 0 else ''},p{v // 2}" for v in range(8)]
    (root / "labels.csv").write_text("file,label,group\n" + "\n".join(rows))
    made = read_federation(wish(root, test_fraction=0.5), 8, 10, 1)
    (client,) = made.partition.clients
    assert (len(client.labeled), len(client.unlabeled)) == (2, 2)
    assert "2 unlabeled images of tested patients" in made.notes[-1]


@pytest.mark.parametrize("planted", [1, 3, 6])
def test_leak_from_a_test_folder_is_counted_and_stops(
    tmp_path: Path, planted: int, promise: Any
) -> None:
    a, b = two_sites(tmp_path)
    test = make_site(tmp_path / "t", {"cat": 3, "dog": 3}, start=500)
    for number in range(planted):
        place = ("cat", "dog")[number // 3]
        shutil.copy(test / place / f"{500 + number % 3}.png", b / f"leak{number}.png")
    settings = wish(a, b, test=str(test))
    with pytest.raises(DataError, match=rf"FS3401 {planted} training.*\(b: {planted}"):
        read_federation(settings, 8, 10, 1)
    allowed = wish(a, b, test=str(test), allow_leak=True)
    notes = read_federation(allowed, 8, 10, 1).notes
    exact = any(note.startswith(f"FS3401 {planted}") for note in notes)
    promise("IN-8 test images among the training images are counted", 1, not exact)
    assert exact


def test_federation_without_labels_says_what_to_do(tmp_path: Path) -> None:
    root = make_site(tmp_path / "s", {"": 3})
    with pytest.raises(DataError, match="FS3303 there is no labeled image to test on"):
        read_federation(wish(root), 8, 10, 1)
