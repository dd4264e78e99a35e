"""Every number in README and docs is what the records say, written by a command."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import fedsemi
from fedsemi.errors import ConfigError
from fedsemi.evidence.catalogue import Artifact
from fedsemi.evidence.profiles import read_profile
from fedsemi.evidence.publish import FIELD, PAGES, fill, parts_of, publish
from fedsemi.evidence.questions import QUESTIONS
from fedsemi.evidence.render import name_of
from fedsemi.evidence.results import Evidence

ROOT = Path(fedsemi.__file__).parents[2]


def test_what_is_published_is_what_the_records_say(tmp_path: Path) -> None:
    for name in (*PAGES, FIELD):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    for profile in ("medium", "choosing"):
        runs = f"results/{profile}/runs"
        shutil.copytree(ROOT / runs, tmp_path / runs)
    for name in ("results/audits", "results/demo", "results/worth"):
        shutil.copytree(ROOT / name, tmp_path / name)
    publish(tmp_path)
    written = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert len(written) > len(PAGES) + len(
        list((ROOT / "results/medium/runs").iterdir())
    )
    for path in written:
        name = path.relative_to(tmp_path)
        assert path.read_bytes() == (ROOT / name).read_bytes(), f"{name}: make results"


def test_nothing_is_left_from_records_that_are_gone() -> None:
    endings = {"md", "csv", "tex", "svg"}
    beside = {
        p.stem for p in (ROOT / "results/medium").iterdir() if p.suffix[1:] in endings
    }
    page = (ROOT / "results/index.html").read_text("utf-8")
    for name in beside:
        if name.startswith("benchmark-"):  # each has a page of its own
            continue
        assert name_of(Artifact(name, "")) in page


def test_only_marked_parts_of_a_text_are_written() -> None:
    evidence = Evidence(read_profile("medium"), 1, {})
    text = "before\n<!-- results: short -->\nformer\n<!-- end of results -->\nafter\n"
    parts = parts_of(evidence, evidence)
    made = fill(text, parts)
    assert made.startswith("before\n<!-- results: short -->\n| question | answer |")
    assert made.endswith("\n<!-- end of results -->\nafter\n") and "former" not in made
    assert fill(made, parts) == made


def test_a_verdict_stands_below_the_differences_that_make_it() -> None:
    results = (ROOT / "docs/results.md").read_text("utf-8")
    question = f"| Q6, confirm: {QUESTIONS['q6-confirm'].title} |"
    (row,) = [line for line in results.splitlines() if line.startswith(question)]
    assert row.index("**Open:**") < row.index("**So:** not recommended, because of")


def test_a_part_that_nobody_knows_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"no part 'shrot'.*short"):
        fill(
            "<!-- results: shrot -->\n<!-- end of results -->",
            {"short": str},
        )
