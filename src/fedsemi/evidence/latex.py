r"""Tables as LaTeX for \usepackage{booktabs}, laid out as in the paper.

They are as wide as a page at most, in one column or two.
"""

from __future__ import annotations

import math

from fedsemi.evidence.answer import Answer
from fedsemi.evidence.captions import caption_of, remarks
from fedsemi.evidence.catalogue import Artifact
from fedsemi.evidence.layout import Entry, Grid, Panel, Row, grid_of
from fedsemi.evidence.results import Evidence

_ESCAPES = {
    "\\": r"\textbackslash{}",
    **{each: rf"\{each}" for each in "&%$#_{}"},
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "±": r"$\pm$",
    "≈": r"$\approx$",
    "−": "$-$",
    "–": "--",
    "…": r"\dots{}",
    "<": "$<$",
    ">": "$>$",
    "`": "",
}


def as_latex(artifact: Artifact, evidence: Evidence) -> str:
    """Write a table; nothing if nothing of it was run."""
    grid = grid_of(artifact, evidence)
    if not grid.panels:
        return ""
    end = "" if artifact.title.endswith("?") else "."
    caption = f"{escaped(artifact.title)}{end} {escaped(caption_of(grid, evidence))}"
    notes = [escaped(each) for each in remarks(artifact, evidence)]
    lines = [
        r"% needs \usepackage{booktabs,adjustbox}",
        r"\begin{table*}[t]",
        r"\centering\footnotesize\setlength{\tabcolsep}{3pt}",
        rf"\caption{{{caption}}}",
        rf"\label{{tab:{artifact.name}}}",
        *(line for panel in grid.panels for line in _panel(panel, grid)),
        r"\end{table*}",
        # Behind the float, where they may go on to the next page.
        r"{\raggedright\footnotesize\noindent",
        *(rf"{note}\par" for note in notes),
        "}",
    ]
    return "\n".join(lines) + "\n"


def answer_latex(answer: Answer) -> str:
    """Write the differences that answer a question; nothing if nothing was run."""
    if not answer.rows:
        return ""
    rows = [r" & ".join(map(escaped, row)) + r" \\" for row in answer.rows]
    finding = f"{answer.finding[:1].upper()}{answer.finding[1:]}."
    caption = " ".join([answer.question, finding, answer.note])
    columns = rf"@{{}}{''.join(_columns(answer))}@{{}}"
    lines = [
        "",
        r"% needs \usepackage{booktabs,tabularx}",
        r"\begin{table*}[t]",
        r"\scriptsize\setlength{\tabcolsep}{3pt}",
        rf"\caption{{{escaped(caption)}}}",
        rf"\label{{tab:{answer.name}-answer}}",
        rf"\begin{{tabularx}}{{\linewidth}}{{{columns}}}",
        r"\toprule",
        r" & ".join(map(escaped, answer.head)) + r" \\",
        r"\midrule",
        *rows,
        r"\bottomrule",
        r"\end{tabularx}",
        r"\end{table*}",
    ]
    return "\n".join(lines) + "\n"


def _columns(answer: Answer) -> list[str]:
    """Give each column of an answer more room the longer its longest text is.

    By the root, so that short ones hold a word; tabularx asks that all shares together
    are the number of columns.
    """
    columns = zip(answer.head, *answer.rows, strict=True)
    rooms = [math.sqrt(max(map(len, column))) for column in columns]
    shares = [len(rooms) * room / sum(rooms) for room in rooms]
    left = r"\raggedright\arraybackslash"
    return [rf">{{\hsize={share:.3f}\hsize{left}}}X" for share in shares]


def escaped(text: str) -> str:
    r"""Write text that LaTeX takes as it is.

    >>> print(escaped("50 % of R&D"))
    50 \% of R\&D
    """
    return "".join(_ESCAPES.get(each, each) for each in text)


def _panel(panel: Panel, grid: Grid) -> list[str]:
    heads, rules, at = [], [], 2
    for name, span in panel.groups:
        heads.append(rf"\multicolumn{{{span}}}{{c}}{{{escaped(name)}}}")
        rules.append(rf"\cmidrule(lr){{{at}-{at + span - 1}}}")
        at += span
    metrics = [escaped(column.metric) for column in panel.columns]
    lines = [
        r"\begin{adjustbox}{max width=\textwidth}",
        rf"\begin{{tabular}}{{@{{}}l{'c' * len(metrics)}@{{}}}}",
        r"\toprule",
        rf"& {' & '.join(heads)} \\",
        " ".join(rules),
        rf"Method & {' & '.join(metrics)} \\",
        r"\midrule",
    ]
    rows = [line for row in panel.rows for line in _row(row, panel, grid)]
    ends = [r"\bottomrule", r"\end{tabular}", r"\end{adjustbox}\par"]
    return [*lines, *rows, *ends]


def _row(row: Row, panel: Panel, grid: Grid) -> list[str]:
    """Write a method, and what others have of it in a line below, to be narrower."""
    title = escaped(row.title)
    shown = rf"\emph{{{title}}}" if row.bound else title
    entries = [row.entries.get(column) for column in panel.columns]
    cells = [_entry(each, grid) for each in entries]
    lines = [rf"{shown} & {' & '.join(cells)} \\"]
    theirs = ["" if each is None else each.theirs for each in entries]
    if any(theirs):
        small = [rf"\scriptsize {each}" if each else "" for each in theirs]
        lines.append(rf"& {' & '.join(small)} \\")
    return lines


def _entry(entry: Entry | None, grid: Grid) -> str:
    if entry is None:
        return ""
    text = "--"
    if ours := entry.ours:
        mean = f"{ours.mean:.1f}"
        text = rf"\textbf{{{mean}}}" if entry.mark == "best" else mean
        text += "" if ours.sd is None else rf" $\pm$ {ours.sd:.1f}"
        text += r" $\approx$" if entry.mark == "tied" else ""
        text += "" if ours.n == grid.usual_seeds else rf" ($n={ours.n}$)"
    return text
