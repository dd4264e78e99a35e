"""Sections as they were measured, and the pages that show them.

A section is kept as it is printed, in `benchmarks/records`, with the day, the machine
and its load. `benchmarks/results.md` and tables of the documentation are written from
that, so that no number is copied by hand.
"""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import date
from functools import partial
from pathlib import Path

import torch

from benchmarks.common import MET, ROOT, Section
from benchmarks.numbers import Shown
from fedsemi.use.session import available_cores

RECORDS = ROOT / "benchmarks" / "records"
RESULTS = ROOT / "benchmarks" / "results.md"
WHOLE = (
    *("first_words", "limit", "reference", "cores", "augmentation", "aggregation"),
    *("scale", "precision", "rounds", "bf16_rounds", "large", "flower", "clients"),
    "deployment",
)
"""What a whole run measures, the longest last: pages are written after each."""
PAGES = {
    "precision": "performance.md",
    "bf16_rounds": "performance.md",
    "large": "performance.md",
    "deployment": "deployment.md",
    "claims": "robustness.md",
    "counts": "what-a-site-reveals.md",
    "groups": "privacy.md",
    "honest": "robustness.md",
    "masked": "privacy.md",
    "masks": "privacy.md",
    "privacy": "privacy-budget.md",
    "torture": "reliability.md",
}
"""Tables of the documentation, by section."""


@dataclass(frozen=True)
class Measured:
    """A section, and when and where it was measured."""

    section: Section
    when: str

    def markdown(self) -> str:
        """Lay it out."""
        return f"{self.section.markdown()}\nMeasured {self.when}.\n"


def here_and_now(seconds: float, load: float) -> str:
    """Say when and where something was measured that took so long from that load on."""
    return (
        f"on {date.today()} in {seconds:.0f} s, load average {load:.1f} before, "
        f"{os.getloadavg()[0]:.1f} after, on {available_cores()} cores, "
        f"{platform.machine()}, torch {torch.__version__}, "
        f"{torch.backends.cpu.get_cpu_capability()}"
    )


def keep(name: str, measured: Measured, folder: Path = RECORDS) -> None:
    """Write the record, in place of an earlier one."""
    folder.mkdir(exist_ok=True)
    text = json.dumps(asdict(measured), indent=1, ensure_ascii=False)
    (folder / f"{name}.json").write_text(text + "\n", encoding="utf-8")


def kept(name: str, folder: Path = RECORDS) -> Measured:
    """Read a record."""
    content = json.loads((folder / f"{name}.json").read_text("utf-8"))
    return Measured(Section(**content["section"]), content["when"])


def results(sections: Sequence[Measured]) -> str:
    """Write the page of all that a whole run measures."""
    rows = [row for each in sections for row in each.section.aimed]
    met = sum(row[-1] == MET for row in rows)
    head = (
        "# Benchmark results\n\n"
        "Measured by `make bench`, or `python -m benchmarks NAME` for one section. "
        "Contenders take turns within one run and the medians are compared, so ratios "
        "carry over to other machines better than seconds. "
        f"{met} of {len(rows)} aims met.\n"
    )
    return "\n".join([head, *(each.markdown() for each in sections)])


def aims(sections: Sequence[Measured]) -> str:
    """Write a table of all that has an aim."""
    lines = ["| | | | measured | aim | |", "|---|---|---|--:|--:|---|"]
    for each in sections:
        title = each.section.title
        for row in each.section.aimed:
            cells = [title, _case(row, each.section), each.section.columns[-3]]
            lines.append(f"| {' | '.join([*cells, *row[-3:]])} |")
            title = ""
    return "\n".join(lines)


def whole() -> list[Measured]:
    """Read what a whole run measures."""
    return [kept(name) for name in WHOLE]


def _table(name: str) -> str:
    measured = kept(name)
    return f"{measured.section.table()}\n\nMeasured {measured.when}."


SHOWN = (
    Shown(ROOT / "docs" / "performance.md", "aims", lambda: aims(whole())),
    *(
        Shown(ROOT / "docs" / page, name, partial(_table, name))
        for name, page in PAGES.items()
    ),
)


def _case(row: Sequence[str], section: Section) -> str:
    """Name a row by its first cell, and by its second one if that is not enough."""
    (first, second, *_), columns = row, section.columns
    case = f"{first} {columns[0]}" if first.isdigit() else first
    twins = [other for other in section.aimed if other[0] == first]
    return f"{case}, {columns[1]} {second}" if twins[1:] else case
