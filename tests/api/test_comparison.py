"""Methods compared over seeds, with the statistics of the evidence."""

from __future__ import annotations

import statistics
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from tests.api.conftest import SMALL
from tests.api.test_settings import ByRoot

import fedsemi
from fedsemi.errors import ConfigError
from fedsemi.evidence.records import Record, read_records, score


def test_methods_are_compared_with_the_first_over_seeds(
    arrays: fedsemi.Sites, tmp_path: Path
) -> None:
    arms = ["uniform-semi", ByRoot, ("semianagg", {"labeled_share": 0.9})]
    found = fedsemi.compare(arms, arrays, **SMALL, seeds=2, out=tmp_path)
    names = [row["method"] for row in found]
    assert names == [
        "uniform-semi",
        f"{ByRoot.__module__}:ByRoot",
        "semianagg labeled_share=0.9",
    ]
    first, _, last = found
    assert first["difference"] is None and first["verdict"] == ""
    scores = [
        score(record, "accuracy") or 0.0
        for record in read_records(tmp_path).values()
        if record["arm"] == last["method"]
    ]
    assert last["seeds"] == len(scores) == 2
    assert last["accuracy"] == pytest.approx(statistics.mean(scores) / 100)
    assert last["accuracy_sd"] == pytest.approx(statistics.stdev(scores) / 100)
    assert last["difference"] == pytest.approx(last["accuracy"] - first["accuracy"])


def _score(record: Record, metric: str) -> float:
    found = score(record, metric)
    assert found is not None
    return found


def test_settings_can_be_chosen_by_labels_that_were_held_out(
    arrays: fedsemi.Sites, tmp_path: Path
) -> None:
    arms = [("semianagg", {"labeled_share": share}) for share in (0.5, 0.9)]
    small: dict[str, Any] = SMALL | {"seeds": 2}
    small["evaluation"] = {"validation_fraction": 0.5}
    found = fedsemi.compare(arms, arrays, **small, out=tmp_path)
    records = read_records(tmp_path).values()
    for row in found:
        own = [record for record in records if record["arm"] == row["method"]]
        assert len(own) == 2
        for metric in ("accuracy", "balanced_accuracy"):
            mean = statistics.mean(_score(each, f"held_out.{metric}") for each in own)
            assert row[f"held_out_{metric}"] == pytest.approx(mean / 100)


def test_without_labels_that_were_held_out_there_is_no_column_of_them(
    arrays: fedsemi.Sites, tmp_path: Path
) -> None:
    small: dict[str, Any] = SMALL | {"seeds": 1, "out": tmp_path}
    (row,) = fedsemi.compare(["fedavg"], arrays, **small)
    assert not [name for name in row if name.startswith("held_out")]


def test_what_has_a_record_is_not_run_again(
    arrays: fedsemi.Sites, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    small: dict[str, Any] = SMALL | {"seeds": 1, "out": tmp_path}
    first = fedsemi.compare(["warm-up", "fedavg"], arrays, **small)
    monkeypatch.setattr("fedsemi.evidence.runner.record_run", None)
    assert fedsemi.compare(["warm-up", "fedavg"], arrays, **small) == first
    assert first[1]["verdict"] == "one seed"


def test_whole_configs_are_compared(small_config, tmp_path: Path) -> None:
    last = small_config["stages"][-1]
    other = small_config | {"stages": [small_config["stages"][0], last | {"rounds": 1}]}
    other["stages"][-1] = {"method": "fedavg", "rounds": 1}
    found = fedsemi.compare(
        [small_config, other], seeds=1, workers=1, progress=False, out=tmp_path
    )
    assert [row["method"] for row in found] == ["semianagg", "fedavg"]


def test_a_config_is_compared_with_its_bounds(small_config, tmp_path: Path) -> None:
    found = fedsemi.compare(
        ["lower", "upper"],
        small_config,
        seeds=1,
        workers=1,
        progress=False,
        out=tmp_path,
    )
    assert [row["seeds"] for row in found] == [1, 1]


@pytest.mark.parametrize(
    ("arms", "part"),
    [
        ([], "nothing to compare"),
        (["fedavg", "fedavg"], "there twice"),
        (["fedavgs"], "did you mean 'fedavg'"),
        (["upper"], "no upper bound"),
    ],
)
def test_what_cannot_be_compared_is_refused(
    arrays: fedsemi.Sites, arms: list[str], part: str
) -> None:
    with pytest.raises(ConfigError, match=part):
        fedsemi.compare(arms, arrays)


def test_methods_need_something_to_be_compared_on() -> None:
    with pytest.raises(ConfigError, match="Give sites or a config"):
        fedsemi.compare(["fedavg"])


def test_settings_beside_a_config_are_refused(small_config) -> None:
    with pytest.raises(ConfigError, match="settings go with sites"):
        fedsemi.compare(["fedavg"], small_config, device="cpu")


def test_a_method_whose_code_has_changed_is_run_again(
    arrays: fedsemi.Sites, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    small: dict[str, Any] = SMALL | {"seeds": 1, "out": tmp_path / "records"}
    monkeypatch.syspath_prepend(tmp_path)
    for power in ("0.5", "2.0"):
        (tmp_path / "powers.py").write_text(
            "import fedsemi\n"
            "class Power(fedsemi.SemiAveraging):\n"
            "    def contributions(self, updates):\n"
            f"        scores = [update.num_pseudo ** {power} for update in updates]\n"
            "        return fedsemi.shares_by(scores, updates)\n"
        )
        fedsemi.compare(["powers:Power"], arrays, **small)
    assert len(read_records(tmp_path / "records")) == 2


def test_a_grid_has_a_column_for_each_setting_and_tests_within_a_point(
    small_config, tmp_path: Path
) -> None:
    found = fedsemi.compare(
        ["lower", "semianagg"],
        small_config,
        seeds=1,
        grid={"partition.dirichlet_alpha": [0.5, 2.0]},
        workers=1,
        progress=False,
        out=tmp_path,
    )
    key = "partition.dirichlet_alpha"
    assert [(row["method"], row[key]) for row in found] == [
        ("lower", 0.5),
        ("semianagg", 0.5),
        ("lower", 2.0),
        ("semianagg", 2.0),
    ]
    for first, second in (found[:2], found[2:]):
        assert first["difference"] is None
        wanted = second["accuracy"] - first["accuracy"]
        assert second["difference"] == pytest.approx(wanted)


def test_a_grid_of_what_is_no_setting_is_refused(small_config) -> None:
    with pytest.raises(ConfigError, match="FS4101"):
        fedsemi.compare(["fedavg"], small_config, grid={"partition.alpha": [1]})
    with pytest.raises(ConfigError, match="FS4182"):
        fedsemi.compare(["fedavg"], small_config, grid={"seed": [1, 2]})


def test_folders_whose_pictures_changed_are_compared_anew(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    for place in ("a/cat", "a/dog", "test/cat", "test/dog", "b"):
        (tmp_path / place).mkdir(parents=True)
        for i in range(4):
            pixels = rng.integers(0, 256, (8, 8, 3), dtype=np.uint8)
            Image.fromarray(pixels).save(tmp_path / place / f"{i}.png")

    def compared() -> int:
        sites = fedsemi.sites_from_folders(
            tmp_path / "a", tmp_path / "b", test=tmp_path / "test", image_size=8
        )
        small: dict[str, Any] = SMALL | {"local": {"batch_size": 2}}
        fedsemi.compare(["fedavg"], sites, **small, seeds=1, out=tmp_path / "out")
        return len(read_records(tmp_path / "out"))

    assert (compared(), compared()) == (1, 1)
    (tmp_path / "b" / "0.png").unlink()
    assert compared() == 2
