"""Runs from Python: what they leave, how they stop, and how they go on."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from tests.api.conftest import SMALL, pictures
from typer.testing import CliRunner

import fedsemi
from fedsemi.cli import app
from fedsemi.errors import CannotCreate, ConfigError, DataError, StorageError
from fedsemi.runs.folder import METRICS, MODEL
from fedsemi.use.session import record_run


def bits(run: fedsemi.Run) -> bytes:
    return (run.folder / MODEL).read_bytes()


def test_the_same_seed_gives_the_same_bits_and_another_one_does_not(
    arrays: fedsemi.Sites, tmp_path: Path
) -> None:
    runs = [
        fedsemi.simulate(arrays, **SMALL, seed=seed, out=tmp_path / str(number))
        for number, seed in enumerate((1, 1, 2))
    ]
    assert bits(runs[0]) == bits(runs[1]) != bits(runs[2])


def test_python_and_a_config_give_the_same_bits(tmp_path: Path, small_config) -> None:
    given = dict(small_config["data"])
    sites = fedsemi.sites_from(given.pop("name"), **given, **small_config["partition"])
    simulated = fedsemi.simulate(
        sites,
        model=small_config["model"],
        stages=small_config["stages"],
        seed=small_config["seed"],
        local=small_config["local"],
        workers=1,
        progress=False,
        out=tmp_path / "python",
    )
    config = tmp_path / "config.json"
    config.write_text((simulated.folder / "config.json").read_text())
    by_config = fedsemi.run(config, workers=1, progress=False, out=tmp_path / "config")
    by_dict = fedsemi.run(
        small_config, workers=1, progress=False, out=tmp_path / "dict"
    )
    assert bits(simulated) == bits(by_config) == bits(by_dict)
    assert simulated.manifest["config_sha256"] == by_dict.manifest["config_sha256"]


def test_overrides_change_a_config_and_leave_the_dict_alone(
    tmp_path: Path, small_config
) -> None:
    before = repr(small_config)
    run = fedsemi.run(
        small_config,
        ["stages.1.rounds=1"],
        workers=1,
        progress=False,
        out=tmp_path / "a",
    )
    assert [row["round"] for row in run.scores] == [1, 2, 1]
    assert repr(small_config) == before


def test_a_run_without_a_folder_gets_a_new_one(
    arrays: fedsemi.Sites, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    short = SMALL | {"stages": [("supervised", 1)]}
    folders = [fedsemi.simulate(arrays, **short).folder for _ in range(2)]
    assert folders == [Path("runs/supervised-1"), Path("runs/supervised-2")]


def test_a_run_is_not_overwritten_unasked(
    arrays: fedsemi.Sites, tmp_path: Path
) -> None:
    short = SMALL | {"stages": [("supervised", 1)], "out": tmp_path / "run"}
    fedsemi.simulate(arrays, **short)
    with pytest.raises(CannotCreate, match="overwrite=True") as error:
        fedsemi.simulate(arrays, **short)
    assert error.value.code == "FS1402" and "--" not in str(error.value)
    assert fedsemi.simulate(arrays, **short, overwrite=True).finished


def stopping(after: int) -> Any:
    """Make a stand-in for `record_run` during which somebody presses Ctrl-C."""

    def stopped(folder: Any, blueprint: Any, steps: Any, *more: Any) -> Any:
        def watched() -> Any:
            for number, step in enumerate(steps, start=1):
                if number == after:
                    os.kill(os.getpid(), signal.SIGINT)
                yield step

        return record_run(folder, blueprint, watched(), *more)

    return stopped


def test_a_stopped_run_says_how_to_go_on_and_ends_in_the_same_bits(
    arrays: fedsemi.Sites, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = fedsemi.simulate(arrays, **SMALL, out=tmp_path / "whole")
    place = tmp_path / "stopped"
    with monkeypatch.context() as patch:
        patch.setattr("fedsemi.api.training.record_run", stopping(after=3))
        with pytest.raises(fedsemi.Interrupted) as error:
            fedsemi.simulate(arrays, **SMALL, out=place)
    assert f"continue with fedsemi.resume({str(place)!r}, sites)" in str(error.value)
    half = fedsemi.load(place)
    assert not half.finished and len(half.scores) == 3
    resumed = fedsemi.resume(place, arrays, workers=1, progress=False)
    assert resumed.finished and bits(resumed) == bits(whole)


def test_a_damaged_checkpoint_is_told_when_a_run_goes_on(
    arrays: fedsemi.Sites,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr("fedsemi.api.training.record_run", stopping(after=3))
        with pytest.raises(fedsemi.Interrupted):
            fedsemi.simulate(arrays, **SMALL, out=tmp_path)
    *_, before, newest = sorted(tmp_path.glob("ckpt-*"))
    newest.write_bytes(newest.read_bytes()[:-1])
    capsys.readouterr()
    assert fedsemi.resume(tmp_path, arrays, workers=1).finished
    told = " ".join(capsys.readouterr().out.split())
    assert "FS1102" in told and f"using {before.name} instead" in told
    assert "FS1001" not in told, "that it goes on was asked for"


def test_a_run_on_arrays_goes_on_with_the_same_arrays_only(
    small_run: fedsemi.Run,
) -> None:
    other = fedsemi.sites_from_arrays([pictures(32, 9)], test=pictures(20, 3))
    with pytest.raises(DataError, match="the config asks for"):
        fedsemi.resume(small_run.folder, other, progress=False)
    with pytest.raises(DataError, match=r"fedsemi\.resume\(folder, sites\)"):
        fedsemi.resume(small_run.folder, progress=False)


def test_a_finished_run_may_get_more_rounds(
    tmp_path: Path, arrays: fedsemi.Sites
) -> None:
    fedsemi.simulate(arrays, **SMALL, out=tmp_path / "run")
    longer = fedsemi.resume(
        tmp_path / "run", arrays, ["stages.1.rounds=3"], workers=1, progress=False
    )
    assert [row["round"] for row in longer.scores] == [1, 2, 1, 2, 3]


def test_a_folder_without_a_run_is_refused(tmp_path: Path) -> None:
    for read in (fedsemi.resume, fedsemi.load):
        with pytest.raises(StorageError, match="not the folder of a run"):
            read(tmp_path)


@pytest.mark.parametrize(
    "words",
    [
        ("run", "--resume", "RUN"),
        ("rerun", "RUN"),
        ("value", "RUN"),
        ("probe", "RUN"),
        ("partition", "RUN/config.json"),
        ("attack", "RUN/config.json"),
    ],
)
def test_commands_that_need_the_arrays_say_so_in_one_line(
    small_run: fedsemi.Run, words: tuple[str, ...]
) -> None:
    typed = [word.replace("RUN", str(small_run.folder)) for word in words]
    result = CliRunner().invoke(app, typed)
    assert isinstance(result.exception, DataError), result.output
    assert result.exception.code == "FS3040"
    assert (small_run.folder / METRICS).stat().st_size > 0


def test_commands_that_only_look_take_a_run_on_arrays(
    small_run: fedsemi.Run, tmp_path: Path
) -> None:
    page = tmp_path / "report.html"
    words = ["report", str(small_run.folder), "--out", str(page)]
    assert CliRunner().invoke(app, words).exit_code == 0
    assert page.stat().st_size > 10_000


def test_a_misspelled_setting_is_refused_with_the_nearest(
    arrays: fedsemi.Sites,
) -> None:
    with pytest.raises(ConfigError, match="did you mean 'evaluation'"):
        fedsemi.simulate(arrays, evaluatoin={"every": 2})
    with pytest.raises(ConfigError, match="did you mean 'batch_size'"):
        fedsemi.simulate(arrays, local={"batchsize": 2})


SCRIPT = """
import sys, fedsemi
sites = fedsemi.sites_from("synthetic", num_clients=4)
stages = [("supervised", 2), ("semianagg", 400)]
model = {"name": "resnet8", "width": 4}
fedsemi.simulate(sites, model=model, stages=stages, workers=2, out="run")
"""


@pytest.mark.slow
def test_ctrl_c_leaves_a_script_with_workers_in_a_run_that_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    # By standard input: there is no file that a worker could run again.
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stderr": subprocess.PIPE}
    words = [sys.executable, "-"]
    with subprocess.Popen(words, **pipes, text=True, start_new_session=True) as script:
        assert script.stdin and script.stderr
        script.stdin.write(SCRIPT)
        script.stdin.close()
        metrics = tmp_path / "run" / METRICS
        while not metrics.exists() or metrics.read_text().count("\n") < 3:
            assert script.poll() is None
            time.sleep(0.1)
        os.killpg(script.pid, signal.SIGINT)
        last = script.stderr.read().strip().splitlines()[-1]
    assert script.returncode == 1
    assert last.endswith("continue with fedsemi.resume('run')")
    half = fedsemi.load("run")
    assert not half.finished and len(half.scores) >= 3


def test_arrays_of_which_a_class_is_not_labeled_are_warned_of(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    images, labels = pictures(32)
    dark = images[labels == 0], labels[labels == 0]
    sites = fedsemi.sites_from_arrays(
        [dark],
        [pictures(24, 1)[0]],
        test=pictures(20, 3),
        class_names=["dark", "bright"],
    )
    fedsemi.simulate(sites, **SMALL | {"progress": True}, out=tmp_path / "run")
    told, _, rest = " ".join(capsys.readouterr().out.split()).partition("round 1/2")
    assert "FS3405 nobody has a labeled image of 1 of 2 classes (bright)" in told
    assert rest
