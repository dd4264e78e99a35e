"""The numbers of docs/pretrained.md are those of the records, and say what they say."""

from __future__ import annotations

import math
from typing import Any

import pytest
from benchmarks.numbers import read_records
from benchmarks.pretrained import PAGE, RECORDS, config_of, overrides_of, tables

from fedsemi.config.experiment import load_config

Record = dict[str, Any]
BF16 = 'precision="bf16"'
FEW = ("data.train_limit=2000", "model.encoder.cached_views=1")


@pytest.fixture(scope="module")
def records() -> list[Record]:
    return read_records(RECORDS)


def test_the_records_are_of_the_config_that_is_shipped(records):
    for record in records:
        overrides = overrides_of(record["arm"], record["seed"], record["set"])
        config = load_config(config_of(record["config"]), overrides)
        assert config.sha256 == record["config_sha256"]


class Group:
    """The records of one table."""

    def __init__(self, records: list[Record], config: str, *more: str) -> None:
        self.arms: dict[str, dict[int, Record]] = {}
        for record in records:
            if (record["config"], *record["set"]) == (config, BF16, *more):
                self.arms.setdefault(record["arm"], {})[record["seed"]] = record

    def gains(self, arm: str, score: str, than: str = "labels") -> list[float]:
        """Points above another arm, by seed."""
        ours, others = self.arms[arm], self.arms[than]
        return [100 * (ours[s][score] - others[s][score]) for s in sorted(ours)]

    def mean(self, arm: str, score: str) -> float:
        found = [100 * record[score] for record in self.arms[arm].values()]
        return sum(found) / len(found)


def between(values: list[float]) -> str:
    """Write the range of numbers of one sign, without it."""
    ends = sorted(map(abs, values))
    return f"{ends[0]:.1f} to {ends[-1]:.1f}"


def listed(values: list[float], form: str = ".1f") -> str:
    *first, last = (f"{value:{form}}".replace("-", "−") for value in values)
    return f"{', '.join(first)} and {last}"


def test_what_is_said_of_isic_18_is_what_the_records_say(records):
    page, whole = PAGE.read_text("utf-8"), Group(records, "isic18-96")
    accuracy, balanced = "accuracy", "balanced_accuracy"
    up, down = (whole.gains("uniform-semi", score) for score in (accuracy, balanced))
    assert min(up) > 0 > max(down)
    assert (
        f"raise accuracy (by {between(up)} points) and lower balanced accuracy "
        f"(by {between(down)})"
    ) in page
    gained = whole.gains("uniform-balanced", balanced)
    labels, uniform, every, plain = (
        whole.mean(arm, balanced)
        for arm in ("labels", "uniform-balanced", "all-labels", "uniform-semi")
    )
    assert (
        f"balanced accuracy is {listed(gained)} points above labels alone, "
        f"{uniform - plain:.1f} above FixMatch as it is; about "
        f"{100 * (uniform - labels) / (every - labels):.0f} % of the gap"
    ) in page
    paid = whole.gains("uniform-balanced", accuracy)
    assert max(paid) < 0
    assert f"{between(paid)} points less than labels alone" in page
    apart = whole.gains("semianagg", balanced, than="uniform-semi")
    bound = math.ceil(10 * max(map(abs, apart))) / 10
    assert f"within {bound} points of balanced accuracy" in page
    above = whole.gains("semianagg-balanced", balanced, than="uniform-balanced")
    assert f"above them by {listed(above)} with balanced softmax" in page
    more = whole.gains("all-labels", balanced), whole.gains("all-labels", "auc")
    ends = [f"{min(each):.0f} to {max(each):.0f}" for each in more]
    assert (
        f"give {ends[0]} points of balanced accuracy more, and {ends[1]} of AUC" in page
    )


def test_what_is_said_of_few_labels_is_what_the_records_say(records):
    page, few = PAGE.read_text("utf-8"), Group(records, "isic18-96", *FEW)
    deep = Group(records, "isic18-96", *FEW, "model.encoder.trained_blocks=1")
    counts = [r["num_labeled"] for _, r in sorted(few.arms["labels"].items())]
    raised, changed = (
        few.gains("uniform-semi", score) for score in ("accuracy", "balanced_accuracy")
    )
    assert f"(2,000 pictures, {listed(counts, 'd')} of them labeled)" in page
    assert (
        f"in all three seeds (by {listed(raised)}) and change balanced accuracy by "
        f"{listed(changed, '+.1f')}"
    ) in page
    lost = deep.gains("uniform-semi", "balanced_accuracy")
    below = deep.gains("semianagg", "balanced_accuracy", than="uniform-semi")
    assert max(lost) < 0 and max(below) < 0
    assert (
        f"by {between(lost)} points; SemiAnAgg is below equal shares in each, by "
        f"{between(below)}"
    ) in page


def test_what_is_said_of_cifar_100_is_what_the_records_say(records):
    page = PAGE.read_text("utf-8")
    found = Group(records, "cifar100")
    alone, every = (found.mean(arm, "accuracy") for arm in ("labels", "all-labels"))
    taken = found.gains("uniform-semi", "accuracy")
    apart = found.mean("semianagg", "accuracy") - found.mean("uniform-semi", "accuracy")
    assert max(taken) < 0
    assert (
        f"the labeled site alone reaches {alone:.0f} %, all labels {every:.0f} %, and "
        f"pseudo-labels take {between(taken)} points away, with equal shares and with "
        f"SemiAnAgg alike ({abs(apart):.1f} apart)"
    ) in page


def test_a_table_has_means_gains_by_seed_and_who_is_right():
    def record(arm, seed, score, right=None):
        return {
            "config": "a-set",
            "arm": arm,
            "seed": seed,
            "set": ["a=1"],
            "accuracy": 0.5,
            "balanced_accuracy": score,
            "auc": 0.9,
            "pseudo_labels": 0 if right is None else 10,
            "pseudo_label_accuracy": right,
        }

    text = tables(
        [
            record("labels", 1, 0.30),
            record("labels", 2, 0.40),
            record("semianagg", 1, 0.28, 0.8),
            record("semianagg", 2, 0.43, 0.9),
        ]
    )
    assert "`pretrained/a-set` with `a=1`:" in text
    assert "| 50.0 ± 0.0 | 35.0 ± 7.1 | 90.0 ± 0.0 |  |  |  |" in text
    assert "| +0.0, +0.0 | -2.0, +3.0 | 85 % |" in text
