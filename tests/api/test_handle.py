"""What a program reads of a run."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from PIL import Image
from tests.api.conftest import SMALL, pictures

import fedsemi
from fedsemi.errors import DataError


def test_accuracy_is_that_of_the_last_test(small_run: fedsemi.Run) -> None:
    rows = small_run.scores
    assert [row["round"] for row in rows] == [1, 2, 1, 2]
    assert small_run.accuracy == rows[-1]["accuracy"]
    assert 0 <= small_run.accuracy <= 1


def test_contributions_have_a_row_for_each_round_and_client(
    small_run: fedsemi.Run,
) -> None:
    rows = small_run.contributions
    places = [(row["stage"], row["round"], row["client"]) for row in rows]
    assert places == [(0, 1, 0), (0, 2, 0), (1, 1, 0), (1, 1, 1), (1, 2, 0), (1, 2, 1)]
    assert sum(row["contribution"] for row in rows[-2:]) == pytest.approx(1)


def test_a_run_is_the_same_when_it_is_loaded(small_run: fedsemi.Run) -> None:
    again = fedsemi.load(str(small_run.folder))
    assert repr(again) == repr(small_run)
    assert "2 rounds of semianagg; accuracy" in repr(again)
    assert (again.scores, again.config) == (small_run.scores, small_run.config)


def test_the_model_predicts_what_the_last_test_measured(
    small_run: fedsemi.Run,
) -> None:
    images, labels = pictures(20, 3)
    assert not small_run.model.training
    with torch.inference_mode():
        logits = small_run.model(small_run.prepare(images)).logits
    right = (logits.argmax(1).numpy() == labels).mean()
    assert right == pytest.approx(small_run.accuracy)
    assert torch.allclose(logits.softmax(1), small_run.probabilities(images), atol=1e-5)


def test_images_are_predicted_with_class_and_probability(
    small_run: fedsemi.Run,
) -> None:
    images, _ = pictures(3)
    found = small_run.predict(images)
    assert found == small_run.predict(torch.from_numpy(images).permute(0, 3, 1, 2))
    assert [row["class"] for row in found] == [str(row["label"]) for row in found]
    assert small_run.class_names == ("0", "1")


def test_a_folder_of_pictures_is_predicted(
    small_run: fedsemi.Run, tmp_path: Path
) -> None:
    images, _ = pictures(2)
    for row, image in enumerate(images):
        Image.fromarray(image).save(tmp_path / f"{row}.png")
    found = small_run.predict(tmp_path)
    assert [row["file"] for row in found] == ["0.png", "1.png"]
    direct = small_run.predict(images)
    assert [row["class"] for row in found] == [row["class"] for row in direct]


def test_images_with_other_channels_are_refused(small_run: fedsemi.Run) -> None:
    with pytest.raises(DataError, match="1 channels, the model takes 3"):
        small_run.predict(pictures(2)[0][..., 0])


def test_a_report_is_written_where_it_is_asked_for(
    small_run: fedsemi.Run, tmp_path: Path
) -> None:
    path = small_run.report(tmp_path / "new" / "report.html")
    assert "<html" in path.read_text()


def test_warnings_are_a_table(small_run: fedsemi.Run) -> None:
    assert all("what" in alarm for alarm in small_run.alarms)
    assert small_run.finished and small_run.manifest["seed"] == 1


def test_a_run_says_whether_unlabeled_sites_helped_once_labels_alone_are_trained(
    arrays: fedsemi.Sites, tmp_path: Path
) -> None:
    settings = SMALL | {"out": tmp_path / "run"}
    run = fedsemi.simulate(arrays, **settings)
    assert run.helped is not None and "train_labels_only(sites)" in run.helped
    alone = run.train_labels_only(arrays, workers=1, progress=False)
    assert alone.folder == run.folder / "labels-only" and alone.helped is None
    assert "95 % interval" in fedsemi.load(run.folder).helped
