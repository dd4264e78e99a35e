r"""Tables as LaTeX for \usepackage{booktabs}, laid out as in the paper."""

from __future__ import annotations

from fedsemi.evidence.answer import Answer
from fedsemi.evidence.captions import caption_of, remarks
from fedsemi.evidence.catalogue import Artifact
from fedsemi.evidence.layout import Entry, Grid, Panel, grid_of
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
        r"% needs \usepackage{booktabs}",
        r"\begin{table}[t]",
        r"\centering\small",
        rf"\caption{{{caption}}}",
        rf"\label{{tab:{artifact.name}}}",
        *(line for panel in grid.panels for line in _panel(panel, grid)),
        r"\par\smallskip\raggedright\footnotesize",
        *(rf"{note}\par" for note in notes),
        r"\end{table}",
    ]
    return "\n".join(lines) + "\n"


def answer_latex(answer: Answer) -> str:
    """Write the differences that answer a question; nothing if nothing was run."""
    if not answer.rows:
        return ""
    rows = [r" & ".join(map(escaped, row)) + r" \\" for row in answer.rows]
    finding = f"{answer.finding[:1].upper()}{answer.finding[1:]}."
    caption = " ".join([answer.question, finding, answer.note])
    columns = rf"@{{}}{'X' * len(answer.head)}@{{}}"
    lines = [
        "",
        r"% needs \usepackage{booktabs,tabularx}",
        r"\begin{table*}[t]",
        r"\footnotesize\raggedright",
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
        rf"\begin{{tabular}}{{@{{}}l{'c' * len(metrics)}@{{}}}}",
        r"\toprule",
        rf"& {' & '.join(heads)} \\",
        " ".join(rules),
        rf"Method & {' & '.join(metrics)} \\",
        r"\midrule",
    ]
    for row in panel.rows:
        title = escaped(row.title)
        shown = rf"\emph{{{title}}}" if row.bound else title
        cells = [_entry(row.entries.get(column), grid) for column in panel.columns]
        lines.append(rf"{shown} & {' & '.join(cells)} \\")
    return [*lines, r"\bottomrule", r"\end{tabular}\par"]


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
    return rf"{text} {{\scriptsize {entry.theirs}}}" if entry.theirs else text
