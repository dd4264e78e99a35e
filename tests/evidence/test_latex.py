"""LaTeX that booktabs takes: balanced, escaped, nothing lost."""

from __future__ import annotations

import re

from tests.evidence.by_hand import evidence_of

from fedsemi.evidence.answer import Answer
from fedsemi.evidence.catalogue import Artifact, Cell, setting
from fedsemi.evidence.latex import answer_latex, as_latex, escaped
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
    ours = r"SemiAnAgg & \textbf{60.5} $\pm$ 0.7 \\"
    assert f"{ours}\n& " + r"\scriptsize 72.24 \\" in text
    assert text.count("{") == text.count("}")
    assert r"\label{tab:table3}" in text and "Guard off" in text


def test_a_table_is_as_wide_as_a_page_at_most_and_names_what_it_loads(
    tiny: Profile,
) -> None:
    text = as_latex(TABLE, evidence_of(tiny, {UNIFORM: [0.50], OURS: [0.60]}))
    assert text.startswith(r"% needs \usepackage{booktabs,adjustbox}")
    box = r"\begin{adjustbox}{max width=\textwidth}" + "\n" + r"\begin{tabular}"
    assert box in text and r"\end{tabular}" + "\n" + r"\end{adjustbox}" in text


def test_a_method_of_which_others_have_no_number_is_one_line(tiny: Profile) -> None:
    text = as_latex(TABLE, evidence_of(tiny, {UNIFORM: [0.50], OURS: [0.60]}))
    uniform, ours, theirs = text.split("\\midrule\n")[1].splitlines()[:3]
    assert uniform == r"Uniform & 50.0 \\" and ours.startswith("SemiAnAgg & ")
    assert theirs == r"& \scriptsize 72.24 \\"


def test_a_column_with_four_times_the_text_is_twice_as_wide() -> None:
    answer = Answer("q1", "Is it?", "no", (), ("x" * 16, "mean"), (("A", "5"),), "")
    shares = [
        float(each) for each in re.findall(r"hsize=([\d.]+)", answer_latex(answer))
    ]
    assert shares == [1.333, 0.667], "together as many as there are columns"


def test_an_answer_is_a_table_of_its_differences(tiny: Profile) -> None:
    text = answer_latex(
        Answer(
            name="q1",
            question="Is it?",
            finding="undecided",
            text=(),
            head=("difference", "seeds"),
            rows=(("A − B", "50 %"),),
            note="One.",
        )
    )
    assert r"difference & seeds \\" in text
    assert r"A $-$ B & 50 \% \\" in text
    assert r"\caption{Is it? Undecided. One.}" in text
    assert r"\label{tab:q1-answer}" in text
    assert text.count("{") == text.count("}")
    assert answer_latex(Answer("q1", "Is it?", "", (), ("a",), (), "")) == ""


def test_a_title_that_asks_has_no_full_stop_behind_it(tiny: Profile) -> None:
    evidence = evidence_of(tiny, {UNIFORM: [0.50, 0.51], OURS: [0.60, 0.61]})
    asked = Artifact("q1", "Is it?", TABLE.cells)
    assert r"\caption{Is it? In percent" in as_latex(asked, evidence)


def test_signs_that_latex_reads_as_commands_are_escaped() -> None:
    assert escaped("50 % of a_b & ±0.5 − `x`") == (r"50 \% of a\_b \& $\pm$0.5 $-$ x")


def test_a_table_of_which_nothing_was_run_is_empty(tiny: Profile) -> None:
    assert as_latex(TABLE, Evidence(tiny, 1, {})) == ""
