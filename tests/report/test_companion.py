"""A run and the one on its labels alone, which finds its way to the reader."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from fedsemi.config.experiment import load_config
from fedsemi.config.labels_only import labels_only
from fedsemi.report.companion import FOLDER, case_of, companion_of, sentence_of
from fedsemi.report.run import Run, read_run
from fedsemi.report.view import view_of
from fedsemi.runs.records import ClientRecord
from fedsemi.simulation.build import build
from fedsemi.use.session import run_and_record


@pytest.fixture(scope="module")
def heard(real_run: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run to which unlabeled sites contributed."""
    run = tmp_path_factory.mktemp("heard") / "small"
    overrides = ["stages.1.learner.cutoff=0.2"]
    experiment = load_config(real_run / "config.json", overrides)
    run_and_record(build(experiment), run, "heard", 1, Console(quiet=True))
    return run


@pytest.fixture(scope="module")
def both(heard: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run, and what `fedsemi run --labels-only` leaves below it."""
    run = tmp_path_factory.mktemp("both") / "small"
    shutil.copytree(heard, run)
    simulation = build(labels_only(load_config(run / "config.json")))
    run_and_record(simulation, run / FOLDER, "alone", 1, Console(quiet=True))
    return run


def test_a_run_without_labels_alone_names_the_command_that_trains_them(
    heard: Path,
) -> None:
    assert sentence_of(read_run(heard)) == (
        "Whether the unlabeled sites helped cannot be said: no model of the labels "
        f"alone is there; `fedsemi run --labels-only {heard}` trains it."
    )


def test_the_command_names_where_the_data_are_and_the_page_no_place(
    heard: Path,
) -> None:
    told = sentence_of(read_run(heard), data_dir=Path("/d"))
    assert told is not None and f"{heard} --data-dir /d` trains it" in told
    (shown,) = view_of([read_run(heard)])["runs"]
    assert f"`fedsemi run --labels-only {heard.name}` trains it" in shown["helped"]


def test_the_two_last_models_are_compared_image_by_image(both: Path) -> None:
    case = case_of(read_run(both))
    assert case is not None and case.difference is not None
    found = case.difference
    accuracies = [
        json.loads((each / "summary.json").read_text())["result"]["last_round"]
        for each in (both, both / FOLDER)
    ]
    ours, alone = (100 * each["accuracy"] for each in accuracies)
    assert (found.ours, found.alone) == (pytest.approx(ours), pytest.approx(alone))
    assert found.low is not None and found.high is not None
    assert found.low < found.ours - found.alone < found.high
    tests = [read_run(each).last_tests() for each in (both, both / FOLDER)]
    count = min(map(len, tests))
    ours, alone = (sum(t.accuracy for t in some[-count:]) for some in tests)
    assert found.usual == pytest.approx(100 * (ours - alone) / count)
    assert "test images, last round; other seeds and rounds may" in found.over


def test_runs_that_kept_no_bits_are_compared_without_an_interval(both: Path) -> None:
    run = read_run(both)
    older = replace(run, analysis={**run.analysis, "correct": None})
    told = sentence_of(older)
    assert told is not None and told.startswith("How sure it is")


def test_labels_alone_of_other_settings_or_data_are_not_taken(both: Path) -> None:
    run = read_run(both)
    assert companion_of(run) is not None
    assert companion_of(replace(run, config={**run.config, "seed": 9})) is None
    other = {**run.manifest, "data_sha256": "0" * 64}
    assert companion_of(replace(run, manifest=other)) is None


def test_labels_alone_are_found_among_runs_that_are_shown_together(
    heard: Path, both: Path
) -> None:
    run, alone = read_run(heard), read_run(both / FOLDER)
    shown = view_of([alone, run])["runs"]
    assert shown[0]["helped"] is None, "it had no use for unlabeled sites"
    assert "95 % interval" in shown[1]["helped"]


def unfinished(run: Run, rounds: int) -> Run:
    return replace(run, summary={}, records=run.records[:rounds])


def test_a_run_that_goes_on_is_compared_with_the_same_round(both: Path) -> None:
    run = unfinished(read_run(both), 3)
    told = sentence_of(run)
    assert told is not None
    assert "the run is not over; after 3 of 4 rounds, accuracy" in told


def test_labels_alone_that_are_in_training_say_how_far_they_are(both: Path) -> None:
    run, alone = read_run(both), unfinished(read_run(both / FOLDER), 1)
    told = sentence_of(replace(run, path=Path("elsewhere")), [alone])
    assert told is not None
    assert "alone is at round 1 of 4; `fedsemi run --labels-only elsewhere` go" in told


def test_a_run_to_which_no_unlabeled_site_contributed_says_so(real_run: Path) -> None:
    assert sentence_of(read_run(real_run)) == (
        "The unlabeled sites did not help: none of them contributed in 2 of 2 "
        "rounds, as no pseudo-label was confident enough; lower "
        "stages.1.learner.cutoff (now 0.9) or give the warm-up more rounds "
        "(stages.0.rounds, now 2)."
    )


def silent(clients: dict[int, ClientRecord]) -> dict[int, ClientRecord]:
    return {
        id: replace(each, contribution=0.0, num_pseudo=0)
        if each.num_unlabeled
        else each
        for id, each in clients.items()
    }


def test_labels_alone_are_named_where_nobody_contributed_as_well(both: Path) -> None:
    run = read_run(both)
    quiet = [replace(each, clients=silent(each.clients)) for each in run.records]
    told = sentence_of(replace(run, records=quiet))
    assert told is not None and "none of them contributed in" in told
    assert " Measured: accuracy " in told and "with labels alone " in told


def test_arrays_are_trained_in_python(heard: Path) -> None:
    run = read_run(heard)
    data = {**run.config["data"], "name": "arrays"}
    told = sentence_of(replace(run, config={**run.config, "data": data}))
    assert told is not None and ").train_labels_only(sites)` trains it" in told
