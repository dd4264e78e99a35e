"""Worker processes see what the script or notebook that started them has defined."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import fedsemi

_TWO_RUNS = """
from dataclasses import dataclass

from torch import nn

from fedsemi.client.learners import LocalLearner, PseudoLabeling
from fedsemi.config.experiment import make_experiment
from fedsemi.contributions import by_data_size
from fedsemi.methods.averaging import SemiAveraging
from fedsemi.simulation.build import build
from fedsemi.simulation.run import run_simulation
from fedsemi.weights import digest


class Net(nn.Module):
    def __init__(self, in_channels):
        super().__init__()
        self.conv = nn.Conv2d(in_channels, 4, 3)

    def forward(self, x):
        return self.conv(x).relu().mean((2, 3))


@dataclass(frozen=True)
class BySize(SemiAveraging):
    trust: float = 0.5

    def contributions(self, updates):
        return by_data_size(updates)


@dataclass(frozen=True)
class Eager(LocalLearner):
    cutoff: float = 0.0

    def objective(self, bench, probe=None):
        return PseudoLabeling(cutoff=self.cutoff).objective(bench, probe)


def digests(home="__main__"):
    content = {
        "data": {"name": "synthetic", "train_limit": 60, "test_limit": 8},
        "model": {"name": f"{home}:Net"},
        "partition": {"num_clients": 3, "min_size": 8},
        "stages": [{
            "method": f"{home}:BySize",
            "rounds": 1,
            "learner": {"name": f"{home}:Eager"},
        }],
    }
    simulation = build(make_experiment(content))
    for workers in (1, 2):
        *_, last = run_simulation(simulation, workers=workers)
        print(digest(last.weights))
"""


def run(folder: Path, *arguments: str, given: str = "") -> list[str]:
    """Run Python in an empty folder; return what it printed."""
    source = str(Path(fedsemi.__file__).parents[1])
    done = subprocess.run(
        [sys.executable, *arguments],
        input=given,
        cwd=folder,
        env=os.environ | {"PYTHONPATH": source},
        capture_output=True,
        text=True,
        timeout=200,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.split()


@pytest.mark.parametrize(
    "way", ["stdin", pytest.param("script", marks=pytest.mark.slow)]
)
def test_own_model_method_and_learner_with_two_workers(way: str, tmp_path: Path):
    source = f"{_TWO_RUNS}\ndigests()\n"  # without a guard
    if way == "stdin":
        alone, together = run(tmp_path, "-", given=source)
    else:
        (tmp_path / "script.py").write_text(source)
        alone, together = run(tmp_path, "script.py")
    assert alone == together


@pytest.mark.slow
def test_a_notebook_may_define_a_network_anew(tmp_path: Path):
    again = _TWO_RUNS.replace("Conv2d(in_channels, 4", "Conv2d(in_channels, 5")
    notebook = f"""
cells = [{_TWO_RUNS!r}, "digests()", {again!r}, "digests()"]
for cell in cells:
    exec(compile(cell, "<cell>", "exec"), globals())
"""
    alone, together, alone_again, together_again = run(tmp_path, "-c", notebook)
    assert alone == together != alone_again == together_again


@pytest.mark.slow
def test_modules_on_a_path_that_the_script_has_changed(tmp_path: Path):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere/mine.py").write_text(_TWO_RUNS)
    script = """
import sys
sys.path.insert(0, "elsewhere")
import mine
mine.digests("mine")
"""
    alone, together = run(tmp_path, "-", given=script)
    assert alone == together
