"""What is handed on with a model."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

from fedsemi.report.card import as_markdown, card_of
from fedsemi.report.run import Run, read_run
from fedsemi.report.view import evaluation_of
from fedsemi.runs.records import Spent


def card(run: Run) -> dict[str, str]:
    return dict(card_of(run, evaluation_of(run)))


def test_a_card_says_where_a_model_comes_from_and_what_was_measured(
    real_run: Path,
) -> None:
    run = read_run(real_run)
    rows = card(run)
    assert run.summary["model_sha256"] in rows["Model"]
    assert rows["Classes"] == "disc, cross, rows, columns"
    assert rows["Sites"].startswith("4, of which 1 had labels; ")
    assert rows["Method"].startswith("2 rounds of supervised, then 2 rounds of semi")
    assert "test images of 4 of 4 classes; 95 % intervals" in rows["Measured"]
    assert "Not for decisions about people" in rows["Limits"]
    assert "some people worse was not measured" in rows["Limits"]


def test_guard_and_privacy_are_what_the_run_had(real_run: Path) -> None:
    run = read_run(real_run)
    off = replace(run, config=run.config | {"guard": {"enabled": False}})
    assert card(off)["Guard"].startswith("off: a single faulty")
    on = replace(run, config=run.config | {"guard": {"enabled": True}})
    assert card(on)["Guard"].startswith("on: ")
    assert "nothing bounds what the model tells" in card(run)["Privacy"]
    spent = Spent(epsilon=3.14159, delta=1e-5, cost=1.0, covers="model")
    noisy = replace(run.records[-1], privacy=spent)
    told = card(replace(run, records=[*run.records[:-1], noisy]))["Privacy"]
    assert "ε = 3.14 at δ = 1e-05" in told
    masked = {"privacy": {"masked": True, "least_sites": 3}}
    shown = card(replace(run, config=run.config | masked))
    assert "sums over 3 sites or more" in shown["Privacy"]
    assert "sums alone" in shown["Guard"]
    grouped = {"privacy": {**masked["privacy"], "groups": 3}}
    shown = card(replace(on, config=on.config | grouped))
    assert (
        "groups of sites were compared, and their steps cut 0 times" in shown["Guard"]
    )


def test_a_model_that_is_a_mean_of_rounds_says_so(real_run: Path) -> None:
    run = read_run(real_run)
    assert "running mean" not in card(run)["Model"]
    kept = {"running_mean": 0.85, "delivers": "running-mean"}
    config = run.config | {"evaluation": run.config["evaluation"] | kept}
    last = replace(run.records[-1], also_tested={"global model": 0.625})
    shown = card(replace(run, config=config, records=[*run.records[:-1], last]))
    assert shown["Model"].endswith(
        "a running mean of the global model, which keeps 0.85 in a round; the global "
        "model itself is at 62.5%"
    )


def test_a_class_that_was_not_tested_is_among_the_limits(real_run: Path) -> None:
    run = read_run(real_run)
    found = json.loads(json.dumps(run.evaluation))
    found["test"]["scores"]["missing"] = ["rows"]
    found["test"]["classes"][2]["num"] = 0
    found["test"]["classes"][0]["num"] = 4
    rows = card(replace(run, evaluation=found))
    assert "Nothing is known of rows: no test image." in rows["Limits"]
    assert "Of disc there are fewer than 10 test images." in rows["Limits"]
    assert "rows" not in rows["Weakest classes"]


def test_a_run_of_an_earlier_version_says_what_is_missing(
    real_run: Path, tmp_path: Path
) -> None:
    old = Path(shutil.copytree(real_run, tmp_path / "old"))
    (old / "evaluation.json").unlink()
    assert "`fedsemi evaluate RUN` adds them" in card(read_run(old))["Measured"]


def test_a_run_that_is_not_over_has_no_card(make_run) -> None:
    assert card_of(read_run(make_run()), {}) == []


def test_names_are_words_in_markdown() -> None:
    text = as_markdown("run", [("Classes", "<b>a</b>, [b](c), *d*\nnew line")])
    assert text.startswith("# Model card: run\n\n## Classes\n\n")
    assert r"\<b\>a\</b\>, \[b\](c), \*d\*" in text
    assert "\nnew line" not in text
