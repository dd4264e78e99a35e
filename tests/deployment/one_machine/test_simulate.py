from __future__ import annotations

import sys
from types import SimpleNamespace

import pytest

pytest.importorskip("flwr")

from fedsemi.deployment.one_machine.simulate import run_on_ray
from fedsemi.errors import ConfigError, FedSemiError


def test_a_missing_ray_is_named_with_its_remedy(simulation, monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(ConfigError, match=r"FS5004 .*Ray.* pip install"):
        run_on_ray(simulation, list)


def test_a_ray_that_does_not_start_is_named_with_its_remedy(simulation, monkeypatch):
    def too_slow(**settings):
        raise TimeoutError("the node\ntimed out during startup")

    monkeypatch.setitem(sys.modules, "ray", SimpleNamespace(init=too_slow))
    with pytest.raises(
        FedSemiError,
        match=r"FS5010 Ray did not start \(TimeoutError: the node timed .* leave out",
    ):
        run_on_ray(simulation, list)
