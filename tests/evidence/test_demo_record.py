"""README says of the demo what a record of it says."""

from __future__ import annotations

import json
from pathlib import Path

from fedsemi.evidence.demo_record import keep, sentence


def run(folder: Path, accuracy: float) -> None:
    folder.mkdir(parents=True)
    result = {"mean_of_last_10": {"accuracy": accuracy}}
    (folder / "summary.json").write_text(json.dumps({"result": result}), "utf-8")
    (folder / "config.json").write_text(json.dumps({"seed": 3}), "utf-8")


def test_the_record_of_a_demo_has_its_seed_and_three_accuracies(tmp_path: Path) -> None:
    ended = {"lower-bound": 0.70004, "semianagg": 0.80, "upper-bound": 0.95}
    for name, accuracy in ended.items():
        run(tmp_path / "demo" / name, accuracy)
    record = tmp_path / "demo.json"
    keep(tmp_path / "demo", record)
    assert json.loads(record.read_text("utf-8")) == {
        "seed": 3,
        "accuracy": {"lower-bound": 0.7, "semianagg": 0.8, "upper-bound": 0.95},
    }
    # 10 of 25 points.
    assert sentence(record).startswith(
        "What to expect: `make demo` (seed 3) ended with"
    )
    assert "70.0 %" in sentence(record) and "so 40 % of the gap" in sentence(record)
