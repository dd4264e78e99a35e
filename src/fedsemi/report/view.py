"""What the page shows of runs: plain numbers, ready to be drawn."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Any

from fedsemi.client.evaluate import MAIN_SCORES
from fedsemi.objectives.calibration import Estimate
from fedsemi.report.ranks import FEWEST
from fedsemi.report.run import Run
from fedsemi.report.settings import differing, flat, shareable, without_places
from fedsemi.runs.records import ClientRecord, RoundRecord
from fedsemi.text.printable import visible

Over = Callable[[ClientRecord], float | None]


def view_of(runs: Sequence[Run]) -> dict[str, Any]:
    """Describe runs for the page; the first one that is no bound is the main one."""
    views = [_run_view(run) for run in runs]
    names = distinct_names(runs)
    for view, name in zip(views, names, strict=True):
        view["name"] = name
    main = next((i for i, view in enumerate(views) if not view["bound"]), 0)
    view = {
        "main": main,
        "runs": views,
        "differing": shareable(differing(runs)) if len(runs) > 1 else {},
    }
    # Classes, sites and folders are named by others, who may hide marks in names.
    shown: dict[str, Any] = visible(view)
    return shown


def bound_of(run: Run) -> str | None:
    """Tell bounds from other runs: supervised all along, with few labels or all."""
    if set(run.methods) != {"supervised"}:
        return None
    everyone = run.config["partition"]["labeled_clients"] == "all"
    return "upper" if everyone else "lower"


def _run_view(run: Run) -> dict[str, Any]:
    return {
        "bound": bound_of(run),
        "methods": run.methods,
        "num_rounds": run.num_rounds,
        "finished": run.finished,
        "stages": _stages(run),
        "guard": run.config["guard"]["enabled"],
        "cuts": _cuts(run.records),
        "precision": run.config.get("precision", "float32"),  # older runs had no other
        "seconds": sum(record.seconds for record in run.records),
        "result": (run.summary.get("result") or {}),
        "num_tests": len(run.last_tests()),
        "rounds": _rounds(run.records),
        "recall": _last_recall(run.records),
        "clients": _clients(run),
        "class_names": run.analysis.get("class_names"),
        "data": _data(run),
        "confusion": run.analysis.get("confusion"),
        "subgroups": run.analysis.get("subgroups") or {},
        "settings": shareable(flat(run.config)),
        "manifest": _facts(run),
        "alarms": [asdict(alarm) for alarm in run.alarms],
        "value": _value(run),
    }


def _data(run: Run) -> dict[str, Any] | None:
    data: dict[str, Any] | None = run.analysis.get("data")
    return data and data | {"origin": without_places(data["origin"])}


def _stages(run: Run) -> list[dict[str, Any]]:
    """Say where each stage begins on the axis of all rounds."""
    begun, stages = 0, []
    for stage in run.config["stages"]:
        stages.append({"after": begun, "method": stage["method"]})
        begun += stage["rounds"]
    return stages


def _rounds(records: Sequence[RoundRecord]) -> dict[str, list[Any]]:
    tests = [record.test.scores if record.test else {} for record in records]
    held = [record.validation for record in records]
    return {
        **{name: [_short(test.get(name)) for test in tests] for name in MAIN_SCORES},
        "seconds": [round(record.seconds, 2) for record in records],
        "validation": [_short(each.accuracy if each else None) for each in held],
    }


def _cuts(records: Sequence[RoundRecord]) -> list[dict[str, Any]]:
    """Say what the guard cut; rounds count over all stages, as on the axis."""
    return [
        {
            "round": number,
            "client": cut.client,
            "code": cut.code,
            "part": _short(cut.part),
        }
        for number, record in enumerate(records, start=1)
        for cut in record.cuts
    ]


def _clients(run: Run) -> dict[str, Any]:
    """Lay the clients out by id: row k of every table belongs to ids[k]."""
    records = run.records
    known = {int(id): own for id, own in (run.analysis.get("clients") or {}).items()}
    ids = sorted({id for record in records for id in record.clients} | set(known))
    last = records[-1].clients if records else {}
    now = [last.get(id, _ABSENT) for id in ids]
    own = [known.get(id, vars(each)) for id, each in zip(ids, now, strict=True)]

    def over_rounds(read: Over) -> list[list[Any]]:
        return [
            [_short(read(r.clients.get(id, _ABSENT))) for r in records] for id in ids
        ]

    return {
        "ids": ids,
        "sites": [run.sites.get(id) for id in ids],
        "labeled": [int(each.get("num_labeled", 0)) for each in own],
        "unlabeled": [int(each.get("num_unlabeled", 0)) for each in own],
        "held_out": [known.get(id, {}).get("num_held_out", 0) for id in ids],
        "bytes": [
            sum(r.clients.get(id, _ABSENT).bytes_sent for r in records) for id in ids
        ],
        "class_count": [known.get(id, {}).get("class_count") for id in ids],
        "labeled_only": run.analysis.get("labeled_only", False),
        "diversity": [_shorts(each.diversity) for each in now],
        "estimate": [
            each.pseudo_label_estimate and vars(each.pseudo_label_estimate)
            for each in now
        ],
        "contribution": over_rounds(lambda c: c.contribution),
        "accepted": over_rounds(_accepted),
        "right": over_rounds(lambda c: c.pseudo_label_accuracy),
        "estimated": over_rounds(_estimated(lambda e: e.accuracy)),
        "estimated_low": over_rounds(_estimated(lambda e: e.low)),
        "estimated_high": over_rounds(_estimated(lambda e: e.high)),
    }


_ABSENT = ClientRecord(num_labeled=0, num_unlabeled=0, num_pseudo=0, contribution=0.0)
"""Who has not answered in a round."""


def _estimated(read: Callable[[Estimate], float]) -> Over:
    def of(client: ClientRecord) -> float | None:
        found = client.pseudo_label_estimate
        return None if found is None else read(found)

    return of


def _accepted(client: ClientRecord) -> float | None:
    total = client.num_unlabeled
    return client.num_pseudo / total if total else None


def _facts(run: Run) -> dict[str, Any]:
    names = ("config_sha256", "data_sha256", "partition_sha256", "anchor_sha256")
    more = ("labeled_share", "python", "torch", "cpu", "command")
    facts = {name: run.manifest.get(name) for name in names + more}
    facts["command"] = without_places(facts["command"])
    facts["model_sha256"] = run.summary.get("model_sha256")
    return {name: value for name, value in facts.items() if value is not None}


def _value(run: Run) -> dict[str, Any]:
    """Leave out what `fedsemi value` found about an earlier model in this folder.

    Correlations over too few clients are left out too.
    """
    model = run.summary.get("model_sha256")
    if not run.value or run.value.get("model_sha256") != model:
        return {}
    found = run.value.get("correlations") or []
    enough = [each for each in found if each["clients"] >= FEWEST]
    return run.value | {"correlations": enough, "fewest": FEWEST}


def _last_recall(records: Sequence[RoundRecord]) -> tuple[float | None, ...] | None:
    tests = [record.test for record in records if record.test]
    return tests[-1].per_class_recall if tests else None


def distinct_names(runs: Sequence[Run]) -> list[str]:
    """Name runs by their folders, with as many parents as it takes to differ."""
    paths = [run.path.resolve() for run in runs]
    for depth in range(1, max(len(path.parts) for path in paths) + 1):
        names = ["/".join(path.parts[-depth:]) for path in paths]
        if len(set(names)) == len(names):
            return names
    return [f"{run.name} ({i})" for i, run in enumerate(runs, start=1)]


def _short(value: float | None) -> float | None:
    """Drop digits that no eye can see; a run of 500 rounds has many numbers."""
    return None if value is None else float(f"{value:.4g}")


def _shorts(values: Sequence[float] | None) -> list[float | None] | None:
    return None if values is None else [_short(value) for value in values]
