"""The table of audits, from records."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from fedsemi.evidence.audits import audit_table


def record(**more: Any) -> dict[str, Any]:
    facts = {"presence": 0.5, "counts": None, "size": 0.25, "all": 0.75}
    place = {"whole": 0.123, "part": {"stem": 0.2, "head": 0.8}}
    config = {"data": {"name": "mnist"}, "seed": 1}
    found = {"card": None, "moved": 0.1, "gain": -0.002, "rounds": 3}
    return {**found, "explained": facts, "place": place, "config": config, **more}


def test_each_record_is_a_row_in_the_table_of_its_card(tmp_path: Path) -> None:
    (tmp_path / "semianagg.json").write_text(json.dumps(record()))
    (tmp_path / "fl2.json").write_text(json.dumps(record(card="LS", place=None)))
    lines = [line for line in audit_table(tmp_path).splitlines() if line]
    assert lines[0] == "LC, whole clients are labeled, others not at all:"
    assert lines[1].startswith("| method | mean moved |")
    assert lines[3] == (
        "| `semianagg` | 10.0 % | 0.50 | – | 0.25 | 0.75 | −0.20 points | 12.3 % | "
        "head, 80 % |"
    )
    assert lines[4] == "LS, labels at the server only:"
    assert lines[7].startswith("| `fl2` |") and lines[7].endswith("| 0 % | – |")
    assert lines[8].startswith("MNIST, 3 rounds from the trained model on, after")


def test_a_folder_without_records_says_so(tmp_path: Path) -> None:
    assert audit_table(tmp_path) == "Not run yet."
