"""Records of audits: small text files, each enough to repeat its audit."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from fedsemi.runs.folder import read_json
from fedsemi.runs.manifest import software
from fedsemi.simulation.build import Simulation
from fedsemi.storage import write_whole
from fedsemi.valuation.audit_words import verdict, where
from fedsemi.valuation.weight_audit import FACTS, Audit

_KIND = "audit of weights"
_SCHEMA = 2
"""1 had rows without kinds, facts in raw numbers and the first round among others."""
_DIGITS = 6


def record_of(found: Audit, simulation: Simulation) -> dict[str, Any]:
    """Keep what was found, and the settings and hashes that it was found with."""
    experiment = simulation.experiment
    explained = {fact: found.explained(fact) for fact in FACTS}
    return {
        "kind": _KIND,
        "schema": _SCHEMA,
        "method": found.method,
        "card": experiment.setting.card,
        "rounds": len(found.accuracy),
        "moved": found.moved,
        "gain": found.gain,
        "accuracy": list(found.accuracy),
        "equal_accuracy": list(found.equal_accuracy),
        "explained": explained | {"all": found.explained(*FACTS)},
        "ranked": {fact: found.ranked(fact) for fact in FACTS},
        "place": None if found.place is None else asdict(found.place),
        "rows": [asdict(row) for row in found.rows],
        "verdict": verdict(found),
        "where": where(found.place, simulation.class_names),
        "class_names": list(simulation.class_names),
        "config": experiment.model_dump(mode="json"),
        **simulation.provenance(),
        "software": software(),
    }


def write_record(path: Path, record: Mapping[str, Any]) -> None:
    """Keep a record, one key a line: it is read in diffs."""
    lines = [f'"{key}": {_short(value)}' for key, value in record.items()]
    write_whole(path, ("{\n" + ",\n".join(lines) + "\n}\n").encode())


def is_record(path: Path) -> bool:
    """Tell whether a file is the record of an audit."""
    return read_json(path).get("kind") == _KIND


def _short(value: Any) -> str:
    return json.dumps(_rounded(value), separators=(",", ":"))


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        return round(value, _DIGITS)
    if isinstance(value, Mapping):
        return {key: _rounded(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_rounded(each) for each in value]
    return value
