"""The folder of a run: everything needed to read it, compare it and run it again."""

from __future__ import annotations

import json
import os
import platform
import sys
from collections.abc import Sequence
from importlib.metadata import distributions
from pathlib import Path
from typing import Any

import torch

from fedsemi.blueprint import Blueprint
from fedsemi.experiment import RoundRecord, Step
from fedsemi.storage import make_folder, write_weights, write_whole
from fedsemi.weights import digest

MODEL = "model.safetensors"


class RunFolder:
    """Writes config, manifest, metrics, summary and model of one run."""

    def __init__(self, path: Path, blueprint: Blueprint) -> None:
        self.path = make_folder(path)
        self._records: list[dict[str, Any]] = []
        self._write_json("config.json", blueprint.experiment.model_dump(mode="json"))
        self._write_json("manifest.json", manifest(blueprint))
        (path / "metrics.jsonl").write_text("", "utf-8")

    def append(self, record: RoundRecord) -> None:
        """Add a line to metrics.jsonl."""
        content = record.as_json()
        self._records.append(content)
        with (self.path / "metrics.jsonl").open("a", encoding="utf-8") as file:
            file.write(json.dumps(content) + "\n")

    def finish(self, last: Step) -> dict[str, Any]:
        """Write the model and the summary; return the summary."""
        write_weights(self.path / MODEL, last.weights)
        summary = summarize(self._records) | {"model_sha256": digest(last.weights)}
        self._write_json("summary.json", summary)
        return summary

    def _write_json(self, name: str, content: object) -> None:
        text = json.dumps(content, indent=2) + "\n"
        write_whole(self.path / name, text.encode())


def manifest(blueprint: Blueprint) -> dict[str, Any]:
    """Describe what made the run: seeds, versions, machine, hashes."""
    experiment = blueprint.experiment
    methods = [blueprint.method(stage) for stage in experiment.stages]
    return {
        "seed": experiment.seed,
        "config_sha256": experiment.sha256,
        **blueprint.provenance(),
        "anchor_sha256": [getattr(m, "anchor_sha256", None) for m in methods],
        "threads_per_worker": 1,
        "python": platform.python_version(),
        "torch": torch.__version__,
        "cpu": torch.backends.cpu.get_cpu_capability(),
        "environment": {
            k: v for k, v in os.environ.items() if k.startswith(("OMP_", "MKL_"))
        },
        "command": sys.argv,
        "packages": sorted(f"{d.name}=={d.version}" for d in distributions()),
    }


def summarize(records: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Summarize a run: for each stage its last round, last ten and best round."""
    tested = [record for record in records if record.get("accuracy") is not None]
    numbers = sorted({record["stage"] for record in tested})
    stages = [
        _summarize_stage([r for r in tested if r["stage"] == number])
        for number in numbers
    ]
    return {
        "seconds": sum(record["seconds"] for record in records),
        "stages": stages,
        "result": stages[-1] if stages else None,
    }


def _summarize_stage(records: Sequence[dict[str, Any]]) -> dict[str, Any]:
    names = ("accuracy", "balanced_accuracy", "auc", "precision", "recall")
    best = max(records, key=lambda record: record["accuracy"])
    return {
        "stage": records[-1]["stage"],
        "method": records[-1]["method"],
        "rounds": records[-1]["round"],
        "last_round": {name: records[-1][name] for name in names},
        "mean_of_last_10": {name: _mean(records[-10:], name) for name in names},
        "best_round_on_test_set": {
            "round": best["round"],
            **{name: best[name] for name in names},
        },
    }


def _mean(records: Sequence[dict[str, Any]], name: str) -> float | None:
    values = [record[name] for record in records if record[name] is not None]
    return sum(values) / len(values) if values else None
