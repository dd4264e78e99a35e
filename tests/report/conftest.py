"""A run that was recorded by hand, of any size."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fedsemi.config.experiment import make_experiment

MakeRun = Callable[..., Path]

_MADE = {"data": {"name": "synthetic"}, "model": {"name": "resnet8", "width": 4}}


@pytest.fixture
def make_run(tmp_path: Path) -> MakeRun:
    """Record a made-up run; the share of client k in its last round grows with k."""

    def make(name: str = "made", rounds: int = 3, clients: int = 4, **changes: Any):
        folder = tmp_path / name
        folder.mkdir()
        config = make_experiment(
            {**_MADE, "stages": [{"method": "semianagg", "rounds": rounds}]}
            | {"partition": {"num_clients": clients}}
            | changes
        )
        text = json.dumps(config.model_dump(mode="json"))
        (folder / "config.json").write_text(text)
        lines = [json.dumps(made_record(r, rounds, clients)) for r in range(rounds)]
        (folder / "metrics.jsonl").write_text("\n".join(lines) + "\n")
        return folder

    return make


def made_record(index: int, rounds: int, clients: int) -> dict[str, Any]:
    """Record round `index`, with numbers that say whose they are."""
    total = clients * (clients - 1) / 2
    return {
        "stage": 0,
        "method": "semianagg",
        "round": index + 1,
        "rounds": rounds,
        "seconds": 1.0,
        "accuracy": 0.5 + 0.4 * index / rounds,
        "balanced_accuracy": 0.5,
        "auc": None,
        "precision": 0.5,
        "recall": 0.5,
        "per_class_recall": [0.5, 0.25, None, 1.0],
        "validation": None,
        "clients": {
            str(k): {
                "num_labeled": 0 if k else 50,
                "num_unlabeled": 100 + k if k else 0,
                "num_pseudo": 10 * index if k else 0,
                "contribution": k / total,
                "diversity": [0.1 * k, 0.0, 0.2, 0.3],
                "pseudo_label_accuracy": 0.5 if k else None,
                "pseudo_label_estimate": None,
                "bytes_sent": 1000 + k,
                "metrics": {"loss": 1.0},
            }
            for k in range(clients)
        },
    }
