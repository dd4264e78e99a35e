"""The bounds of a run: the same rounds with the labels alone, and with all labels."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from fedsemi.client.evaluate import Score
from fedsemi.errors import FedSemiError
from fedsemi.report.run import Run, read_run
from fedsemi.runs.folder import mean_scores, read_json


def bound_of(run: Run) -> str | None:
    """Tell bounds from other runs: supervised all along, with few labels or all."""
    return _kind(run.config)


def bounds_of(run: Run, others: Sequence[Run] = ()) -> dict[str, dict[str, Any]]:
    """Find the results of a run's bounds: among others, else in folders near it.

    A folder below or beside it counts if it has ended and learned from the same images
    for as many rounds, with the same settings but for stages and who has labels.
    """
    if bound_of(run) is not None:
        return {}
    found: dict[str, dict[str, Any]] = {}
    for each in (*others, *_near(run)):
        kind, result = bound_of(each), each.summary.get("result") or {}
        if kind is not None and "mean_of_last_10" in result:
            scores = _last_tests(each, run) or result["mean_of_last_10"]
            found.setdefault(kind, {"name": each.name, "scores": scores})
    return found


def _last_tests(bound: Run, run: Run) -> dict[Score, float | None] | None:
    """Average as few tests as the run's own mean is over, if its last stage was short.

    The one stage of a bound is longer; its early rounds would make it look weak.
    """
    count, tests = len(run.last_tests()), bound.last_tests()
    short = run.finished and 0 < count < len(tests)
    return mean_scores(tests[-count:]) if short else None


def _near(run: Run) -> Iterator[Run]:
    here = run.path.resolve()
    below, beside = here.glob("*/config.json"), here.parent.glob("*/config.json")
    for path in (*sorted(below), *sorted(beside)):
        if path.parent != here and _could_be_a_bound(path):
            try:
                other = read_run(path.parent)
            except FedSemiError:
                continue  # a damaged neighbor is no reason to show nothing
            if _comparable(run, other):
                yield other


def _could_be_a_bound(path: Path) -> bool:
    """Look at the settings alone, for there may be hundreds of runs in a folder."""
    try:
        return _kind(read_json(path)) is not None
    except (FedSemiError, KeyError, TypeError):
        return False


def _kind(config: dict[str, Any]) -> str | None:
    if {stage["method"] for stage in config["stages"]} != {"supervised"}:
        return None
    return "upper" if config["partition"]["labeled_clients"] == "all" else "lower"


def _comparable(run: Run, other: Run) -> bool:
    data = run.manifest.get("data_sha256")
    return (
        data is not None
        and data == other.manifest.get("data_sha256")
        and run.num_rounds == other.num_rounds
        and _common(run.config) == _common(other.config)
    )


def _common(config: dict[str, Any]) -> dict[str, Any]:
    """Leave out what makes a bound of a run: its stages, and who has labels."""
    partition = {k: v for k, v in config["partition"].items() if k not in _LABELS}
    return config | {"stages": None, "partition": partition}


_LABELS = ("labeled_clients", "labeled_fraction", "sha256")
