"""Constants that the papers of the methods set by data set."""

from __future__ import annotations

from typing import Any

_ORCHESTRA = {
    "local": {
        "epochs": 10,
        "batch_size": 16,
        "weight_decay": 1e-4,
        "keep_momentum": False,
        "clip": "none",
    }
}
CONSTANTS: dict[str, dict[str, dict[str, Any]]] = {
    "svhn": {
        "cbafed": {"cap": 0.9},
        "orchestra": _ORCHESTRA,
    },
    "cifar100": {"cbafed": {"cap": 0.95}, "orchestra": _ORCHESTRA},
    "cifar100-lt": {"cbafed": {"cap": 0.95}},
    "isic18": {
        "cbafed": {"cap": 0.9, "labeled_multiplier": 10.0},
        "rscfed": {
            "labeled_boost": 200.0,
            "scale_labeled": 0.01,
            "scale_unlabeled": 0.01,
        },
    },
}
"""What the papers set by data set; a profile's own `constants` come after them."""
