"""Small sites, and runs on them, that the tests of the public surface share."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import fedsemi
from fedsemi.api.tables import Rows
from fedsemi.plugins.registry import REGISTRIES

SMALL: dict[str, Any] = {
    "model": {"name": "resnet8", "width": 4},
    "stages": [("supervised", 2), ("semianagg", 2, {"learner": {"cutoff": 0.3}})],
    "workers": 1,
    "progress": False,
    "local": {"batch_size": 16},
}
"""What makes a call of `simulate` take a second."""


def pictures(count: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Draw bright and dark images, which anything can tell apart."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 2, count)
    noise = rng.integers(0, 60, (count, 12, 12, 3))
    return (noise + 150 * labels[:, None, None, None]).astype(np.uint8), labels


@pytest.fixture
def arrays() -> fedsemi.Sites:
    """One labeled site and two without labels."""
    unlabeled = [pictures(24, seed)[0] for seed in (1, 2)]
    return fedsemi.sites_from_arrays([pictures(32)], unlabeled, test=pictures(20, 3))


@pytest.fixture(scope="session")
def small_run(tmp_path_factory: pytest.TempPathFactory) -> fedsemi.Run:
    """A finished run on arrays."""
    sites = fedsemi.sites_from_arrays(
        [pictures(32)], [pictures(24, 1)[0]], test=pictures(20, 3)
    )
    out = tmp_path_factory.mktemp("api") / "run"
    return fedsemi.simulate(sites, **SMALL, out=out)


@pytest.fixture(autouse=True)
def _own_things_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave methods, networks and data sets of one test to that test."""
    for registry in REGISTRIES.values():
        monkeypatch.setattr(registry, "_added", dict(registry.added))


@pytest.fixture(autouse=True)
def _without_pandas(monkeypatch: pytest.MonkeyPatch) -> None:
    """Plain tables everywhere, whatever is installed."""
    monkeypatch.setattr("fedsemi.api.tables.has_pandas", lambda: False)
    assert isinstance(fedsemi.list_datasets(), Rows)
