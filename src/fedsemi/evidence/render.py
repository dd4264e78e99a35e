"""Tables as Markdown and CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

from fedsemi.evidence.arms import WARM_UPS
from fedsemi.evidence.catalogue import Artefact, Cell
from fedsemi.evidence.guarding import guard_caption
from fedsemi.evidence.notes import NOTES
from fedsemi.evidence.results import Comparison, Evidence, Line

HEAD = ("data", "method", "metric", "paper", "ours", "gap closed", "verdict", "notes")
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
SHORT = {
    "accuracy": "Acc",
    "balanced_accuracy": "B-Acc",
    "auc": "AUC",
    "precision": "Pre",
    "recall": "Rec",
}


def table_rows(evidence: Evidence, lines: Sequence[Line]) -> list[tuple[str, ...]]:
    """Write the lines of a table as text."""
    return [_row(evidence, line) for line in lines]


def paired_rows(comparisons: Sequence[Comparison]) -> list[tuple[str, ...]]:
    """Write paired tests as text."""
    return [_test_row(each) for each in comparisons]


def as_markdown(artefact: Artefact, evidence: Evidence) -> str:
    """Write a table or figure as Markdown."""
    lines = [f"# {name_of(artefact)}: {artefact.title}", ""]
    lines += [about(evidence, [artefact]), ""]
    rows = table_rows(evidence, evidence.lines(artefact))
    if rows:
        lines += [markdown_table(HEAD, rows), ""]
    tests = paired_rows(evidence.comparisons(artefact))
    if tests:
        lines += ["Paired over seeds:", "", markdown_table(TEST_HEAD, tests), ""]
    lines += [f"- *{name}*: {NOTES[name]}" for name in notes_of(artefact)]
    return "\n".join(lines) + "\n"


def notes_of(artefact: Artefact) -> list[str]:
    """Name the disagreements that touch an artefact or one of its cells."""
    by_cell = [name for cell in artefact.cells for name in cell.notes]
    return list(dict.fromkeys([*artefact.notes, *by_cell]))


def as_csv(artefact: Artefact, evidence: Evidence) -> str:
    """Write the lines of a table as CSV, with numbers unrounded."""
    target = io.StringIO()
    writer = csv.writer(target, lineterminator="\n")
    writer.writerow(
        [
            "artefact",
            "dataset",
            "arm",
            "partition",
            "metric",
            "source",
            "paper",
            "profile",
            "seeds",
            "mean",
            "sd",
            "gap_closed",
            "paper_gap",
            "verdict",
            "published",
        ]
    )
    for line in evidence.lines(artefact):
        cell, ours = line.cell, line.ours
        partition = " ".join(f"{k}={v}" for k, v in cell.setting.partition)
        setting = [cell.setting.dataset, cell.setting.arm, partition]
        numbers = [ours.n, ours.mean, ours.sd] if ours else [0, None, None]
        writer.writerow(
            [
                *(artefact.name, *setting, cell.metric, cell.source, cell.paper),
                *(evidence.source.name, *numbers),
                *(line.gap, line.paper_gap, line.verdict, cell.published),
            ]
        )
    return target.getvalue()


def markdown_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Write a Markdown table."""
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    lines += ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join(lines)


def about(evidence: Evidence, artefacts: Sequence[Artefact]) -> str:
    """Say what kind of numbers these are, and whether the guard was on."""
    return f"{_scale(evidence)} {guarding(evidence, artefacts)}".strip()


def guarding(evidence: Evidence, artefacts: Sequence[Artefact]) -> str:
    """Say whether the guard was on in the runs that artefacts show."""
    settings = dict.fromkeys(each for a in artefacts for each in a.settings)
    found = [record for each in settings for record in evidence.found(each).values()]
    return guard_caption(found)


_FROM = {
    "warm-up": "the end of the warm-up, the paper's lower bound",
    "lower": "labeled only for all rounds",
}


def _scale(evidence: Evidence) -> str:
    name, lower = evidence.source.name, _FROM[evidence.source.lower_bound]
    gap = f"The gap closed is measured from {lower}, to the upper bound."
    if name == "paper":
        return f"Profile `paper`: the paper's settings. {gap}"
    return (
        f"Profile `{name}`, not the paper's scale: our numbers are comparable with "
        f"each other and not with the paper's; the share of the gap is. {gap}"
    )


def name_of(artefact: Artefact) -> str:
    """Write out the name of an artefact."""
    return artefact.name.replace("table", "Table ").replace("fig", "Figure ")


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
        SHORT[cell.metric],
        _paper(cell),
        measured,
        _gaps(line),
        line.verdict,
        ", ".join(cell.notes),
    )


def _paper(cell: Cell) -> str:
    paper = "–" if cell.paper is None else f"{cell.paper:.2f}"
    if cell.published is None:
        return paper
    return f"{paper} (as published {cell.published:.2f})"


def _gaps(line: Line) -> str:
    if line.cell.setting.arm in ("upper", "lower", *WARM_UPS):
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
