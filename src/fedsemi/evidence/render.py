"""Tables as Markdown and CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from typing import Any

from fedsemi.evidence.answer import Answer
from fedsemi.evidence.captions import about, caption_of, remarks
from fedsemi.evidence.catalogue import Artifact, Cell
from fedsemi.evidence.layout import (
    BOUNDS,
    SHORT,
    Entry,
    Grid,
    Panel,
    grid_of,
    measured_by,
    titled,
)
from fedsemi.evidence.results import Comparison, Evidence, Line

_HEAD = ("data", "method", "metric", "paper", "ours", "gap closed", "verdict")
_PAPER = 3
"""The column that a comparison of one's own does not have."""
_OF_PAPER = ("paper", "paper_gap", "published")
TEST_HEAD = (
    "data",
    "SemiAnAgg against",
    "metric",
    "seeds",
    "difference",
    "95 % interval",
    "p (t)",
    "p (Wilcoxon)",
    "won / lost",
    "p (sign)",
)


def line_table(
    artifact: Artifact, evidence: Evidence
) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Write the lines of a table as text, and what stands above them."""
    table = [_HEAD, *(_row(evidence, line) for line in evidence.lines(artifact))]
    if artifact.own:
        table = [row[:_PAPER] + row[_PAPER + 1 :] for row in table]
    head, *rows = table
    return head, rows


def paired_rows(comparisons: Sequence[Comparison]) -> list[tuple[str, ...]]:
    """Write paired tests as text."""
    return [_test_row(each) for each in comparisons]


def as_markdown(artifact: Artifact, evidence: Evidence, lead: str = "") -> str:
    """Write a table or figure as Markdown, with what leads into it."""
    lines = [f"# {name_of(artifact)}: {artifact.title}", ""]
    lines += [about(evidence, [artifact]), ""]
    lines += [lead, ""] if lead else []
    head, rows = line_table(artifact, evidence)
    grid = grid_of(artifact, evidence)
    if grid.panels:
        lines += [markdown_grid(grid), caption_of(grid, evidence), ""]
    lines += [f"- {sentence}" for sentence in remarks(artifact, evidence)] + [""]
    tests = paired_rows(evidence.comparisons(artifact))
    if tests:
        lines += ["Paired over seeds:", "", markdown_table(TEST_HEAD, tests), ""]
    if rows:
        lines += ["Line by line:", "", markdown_table(head, rows), ""]
    return "\n".join(lines).rstrip("\n") + "\n"


def answer_markdown(answer: Answer) -> str:
    """Write what a question found: in words, in numbers, and what to bear in mind."""
    found = f"**{answer.finding[:1].upper()}{answer.finding[1:]}.**"
    parts = [" ".join([found, *answer.text])]
    parts += [markdown_table(answer.head, answer.rows)] if answer.rows else []
    parts += [answer.note] if answer.note else []
    return "\n\n".join(parts)


def markdown_grid(grid: Grid) -> str:
    """Write the panels of a table, one below the other."""
    return "\n".join(_markdown_panel(panel, grid) + "\n" for panel in grid.panels)


def _markdown_panel(panel: Panel, grid: Grid) -> str:
    head = ["method", *(f"{each.group}, {each.metric}" for each in panel.columns)]
    rows = [
        [row.title, *(_entry(row.entries.get(c), grid) for c in panel.columns)]
        for row in panel.rows
    ]
    return markdown_table(head, rows)


def _entry(entry: Entry | None, grid: Grid) -> str:
    if entry is None:
        return ""
    text = "–"
    if ours := entry.ours:
        mean = f"**{ours.mean:.1f}**" if entry.mark == "best" else f"{ours.mean:.1f}"
        text = mean if ours.sd is None else f"{mean} ± {ours.sd:.1f}"
        text += " ≈" if entry.mark == "tied" else ""
        text += "" if ours.n == grid.usual_seeds else f" (n = {ours.n})"
    return f"{text} <sub>{entry.theirs}</sub>" if entry.theirs else text


def as_csv(artifact: Artifact, evidence: Evidence) -> str:
    """Write the lines of a table as CSV, with numbers unrounded."""
    rows = [_numbers(artifact, evidence, line) for line in evidence.lines(artifact)]
    left_out = _OF_PAPER if artifact.own else ()
    names = [name for name in (rows[0] if rows else ()) if name not in left_out]
    target = io.StringIO()
    writer = csv.DictWriter(target, names, lineterminator="\n", extrasaction="ignore")
    writer.writeheader()
    writer.writerows(rows)
    return target.getvalue()


def _numbers(artifact: Artifact, evidence: Evidence, line: Line) -> dict[str, Any]:
    cell, ours = line.cell, line.ours
    return {
        "artefact": artifact.name,  # as in the tables that results/ already keeps
        "dataset": cell.setting.dataset,
        "arm": cell.setting.arm,
        "partition": " ".join(f"{k}={v}" for k, v in cell.setting.partition),
        "metric": cell.score,
        "source": cell.source,
        "paper": cell.paper,
        "profile": evidence.source.name,
        "seeds": ours.n if ours else 0,
        "mean": ours.mean if ours else None,
        "sd": ours.sd if ours else None,
        "gap_closed": line.gap,
        "paper_gap": line.paper_gap,
        "verdict": line.verdict,
        "published": cell.published,
    }


def markdown_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Write a Markdown table."""
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    lines += ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join(lines)


def name_of(named: Artifact | Answer) -> str:
    """Write out the name of a table, a figure or a question.

    >>> name_of(Artifact("fig3", "")), name_of(Artifact("q1-isic18", ""))
    ('Figure 3', 'Q1, ISIC-18')
    """
    name = named.name
    if name.startswith("q"):
        question, dash, part = name.partition("-")
        return question.upper() + (f", {titled(part)}" if dash else "")
    return name.replace("table", "Table ").replace("fig", "Figure ")


def _row(evidence: Evidence, line: Line) -> tuple[str, ...]:
    cell, ours = line.cell, line.ours
    where = f"{cell.setting.dataset} {cell.condition}".strip()
    if dict(cell.setting.partition).get("labeled_clients"):
        where += f", {dict(cell.setting.partition)['labeled_clients']} labeled"
    measured = "–"
    if ours is not None:
        deviation = "" if ours.sd is None else f" ± {ours.sd:.1f}"
        seeds = f"{ours.n} seed{'s' if ours.n > 1 else ''}"
        measured = f"{ours.mean:.1f}{deviation} ({seeds}, {evidence.source.name})"
    return (
        where,
        cell.row,
        measured_by(cell),
        _paper(cell),
        measured,
        _gaps(line),
        line.verdict,
    )


def _paper(cell: Cell) -> str:
    paper = "–" if cell.paper is None else f"{cell.paper:.2f}"
    if cell.published is None:
        return paper
    return f"{paper} (as published {cell.published:.2f})"


def _gaps(line: Line) -> str:
    if line.cell.setting.arm in BOUNDS:
        return ""
    ours = "–" if line.gap is None else f"{line.gap:.0%}"
    paper = "" if line.paper_gap is None else f" (paper {line.paper_gap:.0%})"
    return ours + paper


def _test_row(each: Comparison) -> tuple[str, ...]:
    test = each.test
    interval = "–" if test.low is None else f"{test.low:+.1f} to {test.high:+.1f}"
    return (
        each.ours.label.replace("/semianagg", "", 1),
        each.other.arm,
        SHORT[each.metric],
        str(test.n),
        f"{test.mean:+.2f}",
        interval,
        _p(test.p_t),
        _p(test.p_wilcoxon),
        f"{test.wins} / {test.losses}",
        _p(test.p_sign),
    )


def _p(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"
