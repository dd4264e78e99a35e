"""The run on labels alone that belongs to a run, and what the two say together."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from fedsemi.config.labels_only import METHOD, is_labels_only_of
from fedsemi.data.arrays import ARRAYS
from fedsemi.errors import StorageError
from fedsemi.report.correctness import paired_interval, unpacked
from fedsemi.report.helped import Case, Difference, helped, louder
from fedsemi.report.run import Run, read_run
from fedsemi.runs.silence import silence_of
from fedsemi.text.printable import typed

FOLDER = "labels-only"
"""Below the folder of the run that it belongs to."""
_DEMO = "lower-bound"
"""Beside it, in what `fedsemi demo` leaves."""
SAME = ("data_sha256", "partition_sha256")
"""What of the manifests must be equal for two runs to be compared."""


def companion_of(run: Run, others: Sequence[Run] = ()) -> Run | None:
    """Find the run on labels alone: below a run, beside it, or among others."""
    places = (run.path / FOLDER, run.path.resolve().parent / _DEMO)
    found = [*others, *(each for each in map(_read, places) if each)]
    return next((each for each in found if _belongs(each, run)), None)


def curve_of(run: Run) -> dict[int, float]:
    """Return the tested accuracies by the number of rounds done, all stages."""
    stages = [stage["rounds"] for stage in run.config["stages"]]
    return {
        sum(stages[: record.stage]) + record.round: record.test.accuracy
        for record in run.records
        if record.test
    }


def sentence_of(
    run: Run, others: Sequence[Run] = (), data_dir: Path | None = None
) -> str | None:
    """Say whether unlabeled sites helped; None for a run that had no use for any.

    Args:
        run: In whatever state it is.
        others: Runs that the labels alone may be among.
        data_dir: Where the data of the run were found, for the command to type.
    """
    case = case_of(run, others, data_dir)
    return None if case is None else helped(case)


def case_of(
    run: Run, others: Sequence[Run] = (), data_dir: Path | None = None
) -> Case | None:
    """Collect what is known of a run about its unlabeled sites."""
    clients = (run.analysis.get("clients") or {}).values()
    owned = [each for each in clients if "num_unlabeled" in each]
    silence = silence_of(run.records)
    needless = set(run.methods) == {METHOD} or (run.finished and not silence.asked)
    if needless or (owned and not any(each["num_unlabeled"] for each in owned)):
        return None
    partly = owned and all(each["num_labeled"] for each in owned)
    who = "unlabeled images" if partly else "unlabeled sites"
    alone = companion_of(run, others)
    missing = _missing(run, alone, data_dir)
    known = None if alone is None or missing else _difference(run, alone)
    if run.finished and silence.total:
        return Case(known, missing, silence, louder(run.config, silence), who)
    return Case(known, missing, who=who)


def _missing(run: Run, alone: Run | None, data_dir: Path | None) -> str:
    """Say why the question cannot be answered; nothing if it can."""
    if not run.finished:
        return f"the run is not over{_so_far(run, alone)}"
    if not curve_of(run):
        return "the model was not tested, as there are no labeled test images here"
    command = _command(run, data_dir)
    if alone is None:
        return f"no model of the labels alone is there; `{command}` trains it"
    if not alone.finished:
        rounds = f"round {len(alone.records)} of {alone.num_rounds}"
        return f"the model of the labels alone is at {rounds}; `{command}` goes on"
    return ""


def _so_far(run: Run, alone: Run | None) -> str:
    """Give the latest test beside the same round of labels alone."""
    ours, other = curve_of(run), {} if alone is None else curve_of(alone)
    both = sorted(ours.keys() & other.keys())
    if not both:
        return ""
    last = both[-1]
    return (
        f"; after {last} of {run.num_rounds} rounds, accuracy {ours[last]:.1%}, with "
        f"labels alone {other[last]:.1%}"
    ).replace("%", " %")


def _command(run: Run, data_dir: Path | None) -> str:
    if run.config["data"]["name"] == ARRAYS:
        return f"fedsemi.load({str(run.path)!r}).train_labels_only(sites)"
    where = ("--data-dir", data_dir) if data_dir else ()
    return typed("fedsemi", "run", "--labels-only", run.path, *where)


def _difference(run: Run, alone: Run) -> Difference:
    bits = [unpacked(each.analysis.get("correct")) for each in (run, alone)]
    ours, other = bits
    last = [each.summary["result"]["last_round"] for each in (run, alone)]
    first, second = (100 * float(each["balanced_accuracy"]) for each in last)
    balanced = first - second
    if ours is None or other is None or len(ours) != len(other):
        percents = [100 * float(each["accuracy"]) for each in last]
        why = "the runs were recorded by a version that kept no bit for each image"
        return Difference(percents[0], percents[1], None, None, why, balanced)
    low, high = paired_interval(ours, other)
    over = f"{len(ours):,} test images, last round; other seeds and rounds may differ"
    means = 100 * float(ours.mean()), 100 * float(other.mean())
    usual = _usual(run, alone)
    return Difference(*means, 100 * low, 100 * high, over, balanced, usual)


def _usual(run: Run, alone: Run) -> float:
    """Average over as many last tests of both, for stages may be of any length."""
    count = min(len(run.last_tests()), len(alone.last_tests()))
    means = [fmean(t.accuracy for t in r.last_tests()[-count:]) for r in (run, alone)]
    return 100 * (means[0] - means[1])


def _belongs(alone: Run, run: Run) -> bool:
    same: list[Any] = [
        alone.manifest.get(name) == run.manifest.get(name) for name in SAME
    ]
    return all(same) and is_labels_only_of(alone.config, run.config)


def _read(path: Path) -> Run | None:
    try:
        return read_run(path) if (path / "config.json").is_file() else None
    except StorageError:
        return None  # whoever looks at a run shall see it, whatever lies beside it
