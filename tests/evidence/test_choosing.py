"""What docs/questions.md says of how settings were chosen is in the records of that."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import fedsemi

ROOT = Path(fedsemi.__file__).parents[2]


@pytest.mark.parametrize(
    ("title", "file", "metric"),
    [
        ("ISIC-18", "pretrained-choosing.jsonl", "balanced_accuracy"),
        ("CIFAR-100", "cifar100-choosing.jsonl", "accuracy"),
    ],
)
def test_every_score_of_a_choice_is_recorded(
    title: str, file: str, metric: str
) -> None:
    page = (ROOT / "docs/questions.md").read_text("utf-8")
    section = page.split(f"## Table 1 on {title}, on a frozen encoder")[1]
    (told,) = re.findall(r"\| how the setting was chosen \| (.*) \|", section)[:1]
    lines = (ROOT / "benchmarks" / file).read_text("utf-8").splitlines()
    recorded = {round(json.loads(line)[metric], 1) for line in lines}
    scores = {float(score) for score in re.findall(r"\b\d\d\.\d\b", told)}
    assert len(scores) > 10 and scores <= recorded


@pytest.mark.parametrize(
    ("question", "files"),
    [
        ("Q9", ["turns-choosing.jsonl"]),
        ("Q10", ["balanced-choosing.jsonl", "turns-choosing.jsonl"]),
    ],
)
def test_every_score_of_a_trial_is_recorded(question: str, files: list[str]) -> None:
    page = (ROOT / "docs/questions.md").read_text("utf-8")
    section = page.split(f"## {question} ")[1].split("\n## ")[0]
    (told,) = re.findall(r"\| how it was found \| (.*) \|", section)
    own, *others = [_scores(file) for file in files]
    pairs = re.findall(r"(\d\d\.\d) and (\d\d\.\d)", told)
    found = {(float(first), float(second)) for first, second in pairs}
    assert own <= found <= own.union(*others)


def _scores(file: str) -> set[tuple[float, float]]:
    lines = (ROOT / "benchmarks" / file).read_text("utf-8").splitlines()
    return {(r["accuracy"], r["running_mean"]) for r in map(json.loads, lines)}
