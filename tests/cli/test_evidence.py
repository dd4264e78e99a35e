"""The commands, from the words typed to the files written."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from fedsemi.cli import app
from fedsemi.errors import ConfigError
from fedsemi.evidence.estimate import Clock
from fedsemi.evidence.figures import CATALOGUE

TINY = [
    *("--profile", "smoke", "--workers", "1", "--no-probe"),
    *("--set", "warm_up=1", "--set", "rounds=1"),
    *("--set", "data.train_limit=150", "--set", "data.test_limit=40"),
]


def test_a_table_is_made_and_made_again_from_its_records(tmp_path: Path) -> None:
    words = ["reproduce", "table3", *TINY, "--out", str(tmp_path)]
    words += ["--only", "isic18/uniform,semianagg"]
    first = CliRunner().invoke(app, words)
    assert first.exit_code == 0, first.output
    assert "2 runs: 0 done, 2 to do" in first.output
    text = (tmp_path / "table3.md").read_text()
    assert "(1 seed, smoke)" in text and "not run" in text
    assert (tmp_path / "index.html").stat().st_size > 10_000
    assert (tmp_path / "table3.tex").read_text().startswith("% needs")
    # Not on a terminal: a line for each finished run, with the time that is left.
    lines = [line for line in first.output.splitlines() if line.startswith("[")]
    assert lines[0].startswith("[1/2] isic18/") and lines[0].endswith(" left")
    assert lines[1].startswith("[2/2] isic18/") and "left" not in lines[1]
    second = CliRunner().invoke(app, words)
    assert "2 runs: 2 done, 0 to do" in second.output
    assert (tmp_path / "table3.md").read_text() == text


@pytest.mark.slow
def test_processes_on_a_shared_folder_fill_a_table_together(tmp_path: Path) -> None:
    words = ["reproduce", "table3", *TINY, "--out", str(tmp_path)]
    words += ["--only", "isic18/uniform,semianagg"]
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    started = [
        subprocess.Popen(
            [sys.executable, "-m", "fedsemi", *words, "--shard", f"{part}/2"],
            env=environment,
            stdout=subprocess.PIPE,
            text=True,
        )
        for part in (1, 2)
    ]
    outputs = [process.communicate(timeout=240)[0] for process in started]
    assert all("1 runs: 0 done, 1 to do" in output for output in outputs), outputs
    # Whoever was last has read the records of both.
    again = CliRunner().invoke(app, words)
    assert "2 runs: 2 done, 0 to do" in again.output


def test_a_plan_runs_nothing(tmp_path: Path) -> None:
    words = ["reproduce", "all", "--profile", "smoke", "--plan", "--no-probe"]
    result = CliRunner().invoke(app, [*words, "--out", str(tmp_path / "none")])
    assert "to do" in result.output and not (tmp_path / "none").exists()


def test_a_plan_says_whose_partition_is_used(tmp_path: Path) -> None:
    words = ["reproduce", "table1", "--profile", "paper", "--plan", "--no-probe"]
    words += ["--only", "svhn,isic18", "--data-dir", str(tmp_path)]
    (tmp_path / "skin_noniid_beta0.8.pth").touch()
    told = CliRunner().invoke(app, words).output
    assert "svhn: partition drawn from the seed" in told
    assert "isic18: published partition skin_noniid_beta0.8.pth in 36 of 36" in told


@pytest.mark.parametrize(("profile", "warned"), [("paper", True), ("small", False)])
def test_a_plan_says_where_the_images_are_not_the_papers(
    tmp_path: Path, profile: str, warned: bool
) -> None:
    words = ["reproduce", "table1", "--profile", profile, "--plan", "--no-probe"]
    words += ["--only", "svhn,cifar100", "--data-dir", str(tmp_path)]
    for name in ("svhn.npz", "train_32x32.mat", "test_32x32.mat", "cifar100.npz"):
        (tmp_path / name).touch()
    told = CliRunner().invoke(app, words).output
    assert ("cifar100.npz is a compact file" in told) is warned
    assert "svhn.npz" not in told  # the official files come first


def test_the_papers_plan_is_counted_for_a_gpu_and_nothing_is_probed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Clock, "seconds_left", None)  # would fail if it were called
    words = ["reproduce", "table1", "--profile", "paper", "--plan", "--only", "svhn"]
    told = CliRunner().invoke(app, [*words, "--out", str(tmp_path / "none")]).output
    assert "36 runs: 0 done" in told and "resnet18-cifar, 11," in told
    assert "an estimate: counted, not measured" in told
    assert not (tmp_path / "none").exists()


def test_a_plan_that_is_not_probed_is_guessed_from_finished_runs(
    tmp_path: Path,
) -> None:
    words = ["reproduce", "table3", *TINY, "--out", str(tmp_path), "--only"]
    CliRunner().invoke(app, [*words, "isic18/uniform"])
    told = CliRunner().invoke(app, [*words, "isic18/uniform,fedavg", "--plan"]).output
    assert "by finished runs of other rows" in told


def test_methods_are_compared_on_a_config_of_ones_own(tmp_path: Path) -> None:
    config = tmp_path / "mine.toml"
    config.write_text(
        'data = { name = "synthetic", train_limit = 120, test_limit = 40 }\n'
        'model = { name = "resnet8", width = 4 }\n'
        "partition = { num_clients = 3 }\n"
        '[[stages]]\nmethod = "supervised"\nrounds = 1\n'
        '[[stages]]\nmethod = "semianagg"\nrounds = 1\nlearner = { cutoff = 0.5 }\n'
    )
    words = ["compare", str(config), "--methods", "lower,uniform-semi,semianagg"]
    words += ["--seeds", "1", "--workers", "1", "--out", str(tmp_path / "out")]
    result = CliRunner().invoke(app, words)
    assert result.exit_code == 0, result.output
    assert "about" in result.output
    text = (tmp_path / "out" / "compare.md").read_text()
    # Three methods and the warm-up, which they share; three scores of each.
    assert text.count("(1 seed, mine)") == 12
    assert "from the last tests of the warm-up" in text and "Guard off" in text
    assert " paper |" not in text, "of which there is no number here"
    rows = [line.split()[:1] for line in result.output.splitlines()]
    assert all([name] in rows for name in ("lower", "uniform-semi", "semianagg"))
    for shown in (result.output, text, (tmp_path / "out" / "index.html").read_text()):
        assert "semianagg: How sure it is that the unlabeled sites helped" in shown


SMALL = (
    'data = { name = "synthetic", train_limit = 120, test_limit = 40 }\n'
    'model = { name = "resnet8", width = 4 }\n'
    "partition = { num_clients = 3 }\n"
    '[[stages]]\nmethod = "supervised"\nrounds = 1\n'
    '[[stages]]\nmethod = "semianagg"\nrounds = 1\nlearner = { cutoff = 0.99999 }\n'
)


def test_methods_to_which_no_unlabeled_site_contributed_are_the_same_model(
    tmp_path: Path,
) -> None:
    (tmp_path / "mine.toml").write_text(SMALL)
    words = ["compare", str(tmp_path / "mine.toml"), "--out", str(tmp_path / "out")]
    words += ["--methods", "fedavg-semi,semianagg", "--no-probe", "--workers", "1"]
    words += ["--set", "stages.1.learner.selection=fixmatch", "--seeds", "1"]
    told = CliRunner().invoke(app, words).output
    assert (
        "fedavg-semi, semianagg: The unlabeled sites did not help: none of them "
        "contributed in 1 of 1 rounds, as no pseudo-label was confident enough; lower "
        "stages.1.learner.cutoff (now 0.99999)"
    ) in told
    assert "They ended in the same model, bit for bit." in told
    text = (tmp_path / "out" / "compare.md").read_text()
    assert "SemiAnAgg +0.0, the same model" in text and "undecided" not in text


def test_a_grid_tells_its_runs_first_and_refuses_bad_settings_before_any(
    tmp_path: Path,
) -> None:
    (tmp_path / "mine.toml").write_text(SMALL)
    words = ["compare", str(tmp_path / "mine.toml"), "--methods", "lower,semianagg"]
    words += ["--out", str(tmp_path / "out"), "--no-probe", "--workers", "1"]
    grid = ["--grid", "partition.dirichlet_alpha=0.5,2", "--seeds", "1"]
    done = CliRunner().invoke(app, [*words, *grid])
    assert done.exit_code == 0, done.output
    # The warm-up, labels alone and the method, at two points.
    assert done.output.startswith("6 runs: 0 done, 6 to do;")
    page = (tmp_path / "out" / "index.html").read_text()
    assert '"kind":"sweep"' in page and '"names":["0.5","2"]' in page
    bad = [*words[:-2], "--grid", "partition.alpha=1,2"]
    with pytest.raises(ConfigError, match=r"partition\.alpha"):
        CliRunner().invoke(app, bad, catch_exceptions=False)


def test_an_unknown_method_is_one_line(tmp_path: Path) -> None:
    config = tmp_path / "mine.toml"
    config.write_text(
        'data = { name = "synthetic" }\nmodel = { name = "resnet8" }\n'
        '[[stages]]\nmethod = "supervised"\nrounds = 1\n'
    )
    words = ["compare", str(config), "--methods", "semiangg"]
    with pytest.raises(ConfigError, match="did you mean 'semianagg'"):
        CliRunner().invoke(app, words, catch_exceptions=False)


@pytest.mark.slow
def test_every_table_and_figure_is_made_by_the_smoke_profile(tmp_path: Path) -> None:
    words = ["reproduce", "all", "--profile", "smoke", "--no-probe"]
    result = CliRunner().invoke(app, [*words, "--out", str(tmp_path)])
    assert result.exit_code == 0, result.output
    for name in CATALOGUE:
        assert (tmp_path / f"{name}.md").is_file()
    assert "not run" not in (tmp_path / "table1.md").read_text()
