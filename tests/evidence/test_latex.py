"""LaTeX that booktabs takes: balanced, escaped, nothing lost."""

from __future__ import annotations

from tests.evidence.by_hand import evidence_of

from fedsemi.evidence.catalogue import Artifact, Cell, setting
from fedsemi.evidence.latex import as_latex, escaped
from fedsemi.evidence.profiles import Profile
from fedsemi.evidence.results import Evidence

UNIFORM, OURS = setting("isic18", "uniform"), setting("isic18", "semianagg")
TABLE = Artifact(
    "table3",
    "Aggregation",
    (Cell("Uniform", UNIFORM), Cell("SemiAnAgg", OURS, paper=72.24)),
)


def test_a_table_has_rules_heads_bold_and_small_numbers(tiny: Profile) -> None:
    evidence = evidence_of(tiny, {UNIFORM: [0.50, 0.51], OURS: [0.60, 0.61]})
    text = as_latex(TABLE, evidence)
    for part in (r"\toprule", r"\cmidrule(lr){2-2}", r"\bottomrule"):
        assert text.count(part) == 1
    assert r"& \multicolumn{1}{c}{ISIC-18} \\" in text
    assert r"SemiAnAgg & \textbf{60.5} $\pm$ 0.7 {\scriptsize 72.24} \\" in text
    assert text.count("{") == text.count("}")
    assert r"\label{tab:table3}" in text and "Guard off" in text


def test_signs_that_latex_reads_as_commands_are_escaped() -> None:
    assert escaped("50 % of a_b & ±0.5 − `x`") == (r"50 \% of a\_b \& $\pm$0.5 $-$ x")


def test_a_table_of_which_nothing_was_run_is_empty(tiny: Profile) -> None:
    assert as_latex(TABLE, Evidence(tiny, 1, {})) == ""
