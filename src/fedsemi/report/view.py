"""What the page shows of runs: plain numbers, ready to be drawn."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from typing import Any

from fedsemi.client.evaluate import MAIN_SCORES
from fedsemi.data.label_gaps import listed
from fedsemi.objectives.calibration import Estimate
from fedsemi.report.bounds import bound_of, bounds_of
from fedsemi.report.card import card_of
from fedsemi.report.companion import sentence_of
from fedsemi.report.pictures import NO_PICTURES, Pictures
from fedsemi.report.ranks import FEWEST
from fedsemi.report.run import Run
from fedsemi.report.settings import differing, flat, shareable, without_places
from fedsemi.report.site_findings import found_by_sites
from fedsemi.runs.records import GROUP_CUT, ClientRecord, RoundRecord
from fedsemi.text.printable import visible

Over = Callable[[ClientRecord], float | None]


def view_of(runs: Sequence[Run], pictures: Pictures = NO_PICTURES) -> dict[str, Any]:
    """Describe runs for the page, the main one with its bounds and pictures."""
    views = [_run_view(run) for run in runs]
    names = distinct_names(runs)
    for view, name, run in zip(views, names, runs, strict=True):
        view["name"] = name
        # The command that it may name has a path, which stays on this machine.
        view["helped"] = without_places(sentence_of(run, runs))
    main, others = main_of(runs), differing(runs)
    view = {
        "main": main,
        "bounds": bounds_of(runs[main], runs),
        "pictures": {
            "mistakes": pictures.mistakes,
            "least_sure": pictures.least_sure,
        },
        "runs": views,
        "differing": shareable(others),
        "cards_differ": "setting.card" in others,
    }
    # Classes, sites and folders are named by others, who may hide marks in names.
    shown: dict[str, Any] = visible(view)
    return shown


def main_of(runs: Sequence[Run]) -> int:
    """Return the place of the main run: the first that is no bound."""
    return next((i for i, run in enumerate(runs) if bound_of(run) is None), 0)


def _run_view(run: Run) -> dict[str, Any]:
    evaluation = evaluation_of(run)
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
        "delivered": run.delivered,
        "rounds": _rounds(run.records),
        "privacy": _privacy(run.records),
        "recall": _last_recall(run.records),
        "weakest": weakest(_last_recall(run.records), run.analysis.get("class_names")),
        "label_gaps": run.analysis.get("label_gaps") or [],
        "clients": _clients(run),
        "class_names": run.analysis.get("class_names"),
        "data": _data(run),
        "confusion": run.analysis.get("confusion"),
        "subgroups": run.analysis.get("subgroups") or {},  # of older versions
        "evaluation": evaluation,
        "card": card_of(run, evaluation),
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


def _privacy(records: Sequence[RoundRecord]) -> dict[str, Any] | None:
    """Say what was given away, after every round and in all; None without noise."""
    last = records[-1].privacy if records else None
    if last is None:
        return None
    spent = [record.privacy.epsilon if record.privacy else None for record in records]
    return asdict(last) | {"epsilons": [_short(each) for each in spent]}


def _cuts(records: Sequence[RoundRecord]) -> list[dict[str, Any]]:
    """Say what the guard cut; rounds count over all stages, as on the axis.

    Of a group it cut something of everybody in it.
    """
    return [
        {"round": number, "client": client, "code": code, "part": _short(part)}
        for number, record in enumerate(records, start=1)
        for client, code, part in (*_cut_alone(record), *_cut_together(record))
    ]


def _cut_alone(record: RoundRecord) -> Iterator[tuple[int | None, str, float | None]]:
    for cut in record.cuts:
        if cut.code != GROUP_CUT:
            yield cut.client, cut.code, cut.part


def _cut_together(record: RoundRecord) -> Iterator[tuple[int, str, float]]:
    for group in record.groups:
        for client in group.summed if group.part < 1 else ():
            yield client, GROUP_CUT, group.part


def _clients(run: Run) -> dict[str, Any]:
    """Lay the clients out by id: row k of every table belongs to ids[k]."""
    records = run.records
    known = {int(id): own for id, own in (run.analysis.get("clients") or {}).items()}
    ids = sorted({id for record in records for id in record.clients} | set(known))
    last = records[-1].clients if records else {}
    now = [last.get(id, _ABSENT) for id in ids]
    own = [known.get(id, vars(each)) for id, each in zip(ids, now, strict=True)]

    def over_rounds(read: Over, masked: bool = False) -> list[list[Any]]:
        """Read of each client, round by round; None where masks hide it."""
        return [
            [
                None
                if masked and r.hidden
                else _short(read(r.clients.get(id, _ABSENT)))
                for r in records
            ]
            for id in ids
        ]

    return {
        "ids": ids,
        "hidden": any(record.hidden for record in records),
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
        "contribution": over_rounds(lambda c: c.contribution, masked=True),
        "accepted": over_rounds(_accepted, masked=True),
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


def evaluation_of(run: Run) -> dict[str, Any]:
    """Return evaluation.json, if it is about this model, and what sites sent of it.

    A deployed site counts on what it holds out, of the model that it received: that of
    the round before.
    """
    model = run.summary.get("model_sha256")
    about = run.evaluation.get("model_sha256")
    found = run.evaluation if model in (None, about) else {}
    if "sites" in found:
        return found
    names = run.analysis.get("class_names") or ()
    counted = found_by_sites(run.records[-1].clients if run.records else {}, names)
    on = "labeled images that it holds out, counted there"
    return found | {"sites_on": on, "sites": counted} if counted else found


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


def weakest(
    recall: Sequence[float | None] | None, class_names: Sequence[str] | None
) -> str:
    """Name all classes that share the lowest recall, the first of many.

    >>> weakest((0.0, 0.5, None, 0.0), ("cat", "dog", "owl", "elk"))
    'cat, elk (2 of 3 classes): recall 0.0 %'
    """
    known = {c: value for c, value in enumerate(recall or ()) if value is not None}
    if not known:
        return "–"
    lowest = min(known.values())
    names = class_names or [f"class {c}" for c in range(len(recall or ()))]
    found = [names[c] for c, value in known.items() if value == lowest]
    how_many = f" ({len(found)} of {len(known)} classes)" if len(found) > 1 else ""
    return f"{listed(found)}{how_many}: recall {100 * lowest:.1f} %"


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
