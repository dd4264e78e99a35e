"""A model tested on labeled pictures of somebody."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
import torch
from PIL import Image

from fedsemi.client.evaluate import metrics
from fedsemi.data.datasets import load
from fedsemi.errors import ConfigError, DataError
from fedsemi.use.deployed import load_model
from fedsemi.use.evaluate import evaluate_run, evaluate_table

NAMES = ("disc", "cross", "rows", "columns")


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """Forty pictures with patient, sex and age, two of each patient."""
    test = load("synthetic").test
    lines = ["file,label,group,sex,age"]
    for row in range(40):
        image = Image.fromarray(test.images[row].permute(1, 2, 0).numpy())
        image.save(tmp_path / f"{row:02}.png")
        label = NAMES[int(test.labels[row])]
        lines.append(f"{row:02}.png,{label},P{row // 2},{'fm'[row % 2]},{20 + row}")
    path = tmp_path / "test.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


def test_a_table_gives_the_numbers_of_its_pictures(real_run: Path, table: Path) -> None:
    found = evaluate_table(real_run, table, []).facts
    model, _ = load_model(real_run)
    test = load("synthetic").test
    with torch.inference_mode():
        known = metrics(model(test.images[:40]), test.labels[:40], 4)
    scores = found["test"]["scores"]
    assert scores["num"] == 40 and scores["num_patients"] == 20
    assert scores["accuracy"]["value"] == pytest.approx(known.accuracy)
    assert scores["balanced_accuracy"]["value"] == pytest.approx(
        known.balanced_accuracy, rel=1e-4
    )
    assert set(found["subgroups"]) == {"sex", "age"}
    assert [each["num"] for each in found["subgroups"]["sex"]] == [20, 20]


def test_only_columns_that_are_asked_for_divide_the_test(
    real_run: Path, table: Path
) -> None:
    assert set(evaluate_table(real_run, table, ["sex"]).facts["subgroups"]) == {"sex"}


def test_a_slip_in_a_column_is_told_with_the_nearest(
    real_run: Path, table: Path
) -> None:
    with pytest.raises(ConfigError, match=r"'sexe'.*sex") as error:
        evaluate_table(real_run, table, ["sexe"])
    assert error.value.code == "FS3512"


def test_a_column_of_names_is_refused(real_run: Path, table: Path) -> None:
    text = table.read_text().replace("group,sex", "group,name")
    lines = [text.splitlines()[0]]
    for number, line in enumerate(text.splitlines()[1:]):
        cells = line.split(",")
        lines.append(",".join([*cells[:3], f"n{number}", cells[4]]))
    table.write_text("\n".join(lines))
    with pytest.raises(ConfigError, match="40 different words"):
        evaluate_table(real_run, table, ["name"])


def test_a_folder_of_classes_is_a_test_too(real_run: Path, tmp_path: Path) -> None:
    test = load("synthetic").test
    for row in range(12):
        place = tmp_path / "folder" / NAMES[int(test.labels[row])]
        place.mkdir(parents=True, exist_ok=True)
        image = Image.fromarray(test.images[row].permute(1, 2, 0).numpy())
        image.save(place / f"{row}.png")
    found = evaluate_table(real_run, tmp_path / "folder", []).facts
    assert found["test"]["scores"]["num"] == 12
    assert found["test"]["scores"]["num_patients"] is None


def test_what_cannot_be_used_is_named_and_the_rest_is_tested(
    real_run: Path, table: Path
) -> None:
    (table.parent / "00.png").write_bytes(b"no")
    with table.open("a") as file:
        file.write("01.png,disk\nnone.png,disc,,,\n")
    found = evaluate_table(real_run, table, [])
    assert found.facts["test"]["scores"]["num"] == 39
    assert any("00.png" in line for line in found.left_out)
    assert any("none.png" in line for line in found.left_out)
    assert any("has 2 fields" in line for line in found.left_out)


def test_a_table_without_a_usable_picture_is_refused(
    real_run: Path, tmp_path: Path
) -> None:
    (tmp_path / "t.csv").write_text("file,label\nnone.png,disc\n")
    with pytest.raises(DataError, match=r"none\.png"):
        evaluate_table(real_run, tmp_path / "t.csv", [])


def test_a_run_of_an_earlier_version_gets_its_evaluation(
    real_run: Path, tmp_path: Path
) -> None:
    run = Path(shutil.copytree(real_run, tmp_path / "old"))
    before = json.loads((run / "evaluation.json").read_text())
    (run / "evaluation.json").unlink()
    evaluate_run(run, [], None)
    assert json.loads((run / "evaluation.json").read_text()) == before


def test_a_run_that_is_not_over_has_no_model_to_test(
    real_run: Path, tmp_path: Path
) -> None:
    run = Path(shutil.copytree(real_run, tmp_path / "begun"))
    (run / "summary.json").unlink()
    with pytest.raises(ConfigError, match="not over"):
        evaluate_run(run, [], None)
