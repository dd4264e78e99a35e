"""README says of the demo what a record of it says."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from fedsemi.evidence.demo_record import draws, keep, sentence


def demo(folder: Path, seed: int, accuracies: Sequence[float]) -> Path:
    names = ("lower-bound", "semianagg", "upper-bound")
    for name, accuracy in zip(names, accuracies, strict=True):
        run(folder / name, seed, accuracy)
    return folder


def run(folder: Path, seed: int, accuracy: float) -> None:
    folder.mkdir(parents=True)
    result = {"mean_of_last_10": {"accuracy": accuracy}}
    (folder / "summary.json").write_text(json.dumps({"result": result}), "utf-8")
    (folder / "config.json").write_text(json.dumps({"seed": seed}), "utf-8")


def test_the_record_of_a_demo_has_its_seed_and_three_accuracies(tmp_path: Path) -> None:
    keep(demo(tmp_path / "demo", 1, (0.70004, 0.80, 0.95)), tmp_path)
    assert json.loads((tmp_path / "1.json").read_text("utf-8")) == {
        "seed": 1,
        "accuracy": {"lower-bound": 0.7, "semianagg": 0.8, "upper-bound": 0.95},
    }
    # 10 of 25 points.
    said = sentence(tmp_path)
    assert said.startswith("What to expect: `make demo` (seed 1) ended with 70.0 %")
    assert "so 40 % of the gap" in said


def test_a_demo_on_another_kind_of_processor_stands_below_and_is_not_averaged(
    tmp_path: Path,
) -> None:
    keep(demo(tmp_path / "here", 1, (0.7, 0.8, 0.95)), tmp_path)
    keep(demo(tmp_path / "there", 1, (0.6, 0.9, 1.0)), tmp_path, "an old one")
    assert draws(tmp_path).splitlines()[2:] == [
        "| 1 | 70.0 | 80.0 | 95.0 | 40 % |",
        "| 1, on an old one | 60.0 | 90.0 | 100.0 | 75 % |",
    ]
    said = "40 % of the gap is closed (another kind of processor: 75 %)."
    assert said in sentence(tmp_path)


def test_other_draws_stand_beside_the_demo_and_are_averaged_without_it(
    tmp_path: Path,
) -> None:
    for seed, accuracies in {
        1: (0.7, 0.8, 0.95),
        10: (0.6, 0.9, 1.0),
        2: (0.8, 0.9, 1.0),
    }.items():
        keep(demo(tmp_path / str(seed), seed, accuracies), tmp_path)
    assert draws(tmp_path).splitlines()[2:] == [
        "| 1 | 70.0 | 80.0 | 95.0 | 40 % |",
        "| 2 | 80.0 | 90.0 | 100.0 | 50 % |",
        "| 10 | 60.0 | 90.0 | 100.0 | 75 % |",
        "| mean of the others | 70.0 | 90.0 | 100.0 | 67 % |",
    ]
    assert "40 % of the gap is closed (other draws: 67 %)." in sentence(tmp_path)
