"""What a simulation says about itself."""

from __future__ import annotations

import pytest
import torch

from fedsemi.config.experiment import make_experiment
from fedsemi.errors import ConfigError
from fedsemi.simulation.build import build


@pytest.mark.parametrize("method", ["cbafed-warmup", "head-only"])
def test_a_stage_on_labels_alone_is_guessed_at_the_work_of_a_warm_up(
    method, small_config
):
    small_config["stages"].insert(1, {"method": method, "rounds": 1})
    warm_up, other, semi = build(make_experiment(small_config)).work(workers=1)
    assert other == warm_up < semi


def test_a_device_that_is_not_there_is_refused_by_name(small_config) -> None:
    missing = "cuda:97" if torch.cuda.is_available() else "cuda"
    for name in (missing, "cupboard"):
        with pytest.raises(ConfigError, match=rf"FS4113 device '{name}' .*'cpu'"):
            build(make_experiment(small_config | {"device": name}))
