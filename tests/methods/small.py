"""Settings with which a method has something to do on a tiny federation."""

from __future__ import annotations

from typing import Any

SMALL: dict[str, dict[str, Any]] = {
    "cbafed": {"labeled_epochs": 1},
    "fedirm": {"unlabeled_after": 0},
    "feddb": {"cutoff": 0.3},
    "sage": {"cutoff": 0.3},
    "fl2": {"cutoff": 0.3},
    "semifl": {"cutoff": 0.3},
    "fedmatch": {"cutoff": 0.3, "helper_interval": 1},
    "twin-sight": {"cutoff": 0.3, "projector_width": 4},
    "fedbarlow": {"projector_width": 4},
    "orchestra": {
        "projector_width": 4,
        "global_centroids": 4,
        "local_centroids": 2,
        "memory_size": 4,
        "server_steps": 2,
    },
}
"""So that a fresh model is sure of something, helpers and unlabeled images have a part
at once, and parts that travel beside the model are small."""
