"""A site's pictures with and without labels, wherever its labels are."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.data.pictures import make_site, save_picture

from fedsemi.asking.shelf import Shelf, open_shelf
from fedsemi.data.folder import read_site
from fedsemi.data.site_settings import SitesSettings
from fedsemi.errors import ConfigError, DataError

CLASSES = ("cat", "dog")


def learned(folder: Path, labels: str = "auto") -> dict[str, int]:
    """Read the folder as the next run does."""
    settings = SitesSettings([str(folder)], list(CLASSES), labels=labels)  # type: ignore[arg-type]
    site = read_site(folder, settings, 8)
    return dict(zip(site.files, site.labels.tolist(), strict=True))


def test_the_next_run_learns_from_a_label_that_was_given(tmp_path: Path) -> None:
    site = make_site(tmp_path / "site", {"": 3})
    Shelf(site, CLASSES).write("1.png", "dog")
    assert learned(site) == {"0.png": -1, "1.png": 1, "2.png": -1}
    assert learned(site, "csv") == learned(site)


def test_labels_of_sub_folders_are_not_lost_with_the_first_answer(
    tmp_path: Path,
) -> None:
    site = make_site(tmp_path / "site", {"cat": 2, "dog": 1, "unlabeled": 2})
    before = learned(site)
    Shelf(site, CLASSES).write("unlabeled/0.png", "cat")
    assert learned(site) == before | {"unlabeled/0.png": 0}


def test_what_has_a_label_or_a_faulty_row_is_not_asked_about(tmp_path: Path) -> None:
    site = make_site(tmp_path / "site", {"": 4})
    (site / "labels.csv").write_text("file,label\n0.png,cat\n1.png,dgo\n2.png,\n")
    bare, labels = Shelf(site, CLASSES).pictures()
    assert bare == ["2.png", "3.png"]
    assert labels == {"0.png": "cat"}


def test_sub_folders_of_a_site_without_labels_are_no_classes(tmp_path: Path) -> None:
    site = make_site(tmp_path / "site", {"2024": 2})
    shelf = Shelf(site, CLASSES, "none")
    assert len(shelf.pictures()[0]) == 2
    shelf.write("2024/0.png", "dog")
    assert shelf.pictures() == (["2024/1.png"], {"2024/0.png": "dog"})
    with pytest.raises(DataError, match="FS3202"):
        Shelf(make_site(tmp_path / "other", {"2024": 1}), CLASSES).pictures()


@pytest.mark.parametrize("kind", ["none", "folders"])
def test_a_config_that_would_not_read_the_table_is_named(kind, tmp_path: Path) -> None:
    advice = Shelf(tmp_path, CLASSES, kind).advice
    assert advice is not None
    assert f'labels = "{kind}"' in advice and f'{tmp_path.name} = "csv"' in advice
    assert Shelf(tmp_path, CLASSES, "csv").advice is None


def run_of(tmp_path: Path, **config: object) -> Path:
    run = tmp_path / "run"
    run.mkdir()
    (run / "config.json").write_text(json.dumps(config))
    return run


def test_a_run_on_folders_knows_where_the_labels_of_a_site_are(tmp_path: Path) -> None:
    sites = {"folders": ["a", "b"], "classes": CLASSES, "labels": {"b": "none"}}
    run = run_of(tmp_path, sites=sites)
    (tmp_path / "b").mkdir()
    assert open_shelf(run, tmp_path / "b", CLASSES).kind == "none"
    with pytest.raises(ConfigError, match=r"FS6401 .* --data a; each site asks"):
        open_shelf(run, None, CLASSES)


def test_a_simulated_run_says_that_it_knows_the_labels(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"knows all labels.*fedsemi label-curve"):
        open_shelf(run_of(tmp_path, data={"name": "digits"}), None, CLASSES)


def test_an_exported_model_needs_a_folder_as_well(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="FS6401 name the site's folder"):
        open_shelf(tmp_path / "model.onnx", None, CLASSES)
    with pytest.raises(DataError, match="FS3001"):
        open_shelf(tmp_path / "model.onnx", tmp_path / "nowhere", CLASSES)


def test_packed_pictures_have_no_names_to_label(tmp_path: Path) -> None:
    (tmp_path / "site.safetensors").touch()
    with pytest.raises(DataError, match=r"FS6402 .* pack it again"):
        open_shelf(tmp_path, tmp_path, CLASSES)


def test_a_link_to_a_picture_is_not_on_the_shelf(tmp_path: Path) -> None:
    secret = save_picture(tmp_path / "secret.png", 9)
    site = make_site(tmp_path / "site", {"": 1})
    (site / "link.png").symlink_to(secret)
    assert Shelf(site, CLASSES).pictures()[0] == ["0.png"]
