"""The page: self-contained, with every artifact, and an example by the real code."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.evidence.by_hand import answer, evidence_of

from fedsemi.evidence.catalogue import Artifact, Cell, setting
from fedsemi.evidence.figures import CATALOGUE
from fedsemi.evidence.page import evidence_page, worked_example
from fedsemi.evidence.profiles import Profile, read_profile
from fedsemi.evidence.questions import QUESTIONS
from fedsemi.evidence.render import name_of
from fedsemi.evidence.results import Evidence


def test_the_worked_example_shows_that_the_rules_disagree_on_the_winner() -> None:
    paper, released = zip(*[row[2:] for row in worked_example()["rows"]], strict=True)
    assert paper == ("0.2937", "0.5952", "0.1111")
    assert released == ("0.3593", "0.3556", "0.2852")


def test_the_page_needs_no_network_and_names_every_artifact(tiny: Profile) -> None:
    some = [CATALOGUE[name] for name in ("table3", "fig2", "fig4", "fig11")]
    text = evidence_page(some, Evidence(tiny, 1, {}))
    assert "http://" not in text.replace("http://www.w3.org/2000/svg", "")
    for name in ("Table 3", "Figure 2", "Figure 4", "Figure 11", "Not run in the"):
        assert name in text


def view_of(text: str) -> dict[str, Any]:
    """Read the data out of a page."""
    start = text.index('id="data">') + len('id="data">')
    found: dict[str, Any] = json.loads(text[start : text.index("</script>", start)])
    return found


@pytest.mark.parametrize("name", ["fig1", "fig5", "fig12", "table3"])
def test_what_was_not_run_is_named_and_has_no_section(tiny: Profile, name: str) -> None:
    view = view_of(evidence_page([CATALOGUE[name]], Evidence(tiny, 1, {})))
    assert view["figures"] == view["tables"] == []
    assert name_of(CATALOGUE[name]) in view["missing"]


def test_questions_come_first_each_with_its_finding() -> None:
    some = [*QUESTIONS.values(), CATALOGUE["fig2"]]
    view = view_of(evidence_page(some, Evidence(read_profile("medium"), 1, {})))
    names = [each["name"] for each in view["answers"]]
    assert names == [
        "Q1",
        "Q1, ISIC-18",
        "Q1, CIFAR-100",
        "Q1, CIFAR-100-LT",
        "Q2",
        "Q3",
        "Q3, dose",
        "Q4",
        "Q4, held-out",
        "Q4, ramp",
        "Q5",
        "Q6",
        "Q6, confirm",
        "Q7",
        "Q8",
        "Q9",
        "Q10",
        "Q11",
    ]
    for each in view["answers"]:  # of several places, each is told
        parts = each["finding"].split("; ")
        assert all(part.endswith("not run") for part in parts), each["name"]
    assert [figure["name"] for figure in view["figures"]] == ["Figure 2"]
    lines = {line["name"]: line["answer"] for line in view["overview"]}
    assert set(lines) < set(names) and lines["Q2"] == [
        ["Open", "SVHN not run; MNIST not run"]
    ]


def test_of_a_long_answer_two_sentences_are_in_view(medium: Profile) -> None:
    settings = QUESTIONS["q1"].settings
    runs = evidence_of(medium, {each: [0.6, 0.7] for each in settings})
    (shown,) = view_of(evidence_page([QUESTIONS["q1"]], runs))["answers"]
    assert shown["text"].count("points (95 % interval") == 2 * 2  # by both scores
    told = " ".join(answer("q1", runs).text)
    assert f"{shown['text']} {shown['more']}" == told and shown["more"]


def test_a_short_answer_is_in_view_as_a_whole(medium: Profile) -> None:
    settings = QUESTIONS["q8"].settings
    runs = evidence_of(medium, {each: [0.6, 0.7] for each in settings})
    (shown,) = view_of(evidence_page([QUESTIONS["q8"]], runs))["answers"]
    assert shown["text"] == " ".join(answer("q8", runs).text) and not shown["more"]


def test_the_leads_of_the_paper_that_were_run_stand_at_the_head(
    medium: Profile,
) -> None:
    ours, rival = setting("isic18", "semianagg"), setting("isic18", "cbafed")
    runs = evidence_of(medium, {ours: [0.6, 0.62], rival: [0.5, 0.5]})
    shown = view_of(evidence_page([CATALOGUE["table1"]], runs))["beside_paper"]
    # Differences 10 and 12: 11 ± 12.706.
    assert "none holds here (95 % intervals)" in shown["sentence"]
    here = "+11.00 (−1.71 to +23.71)"
    assert shown["table"]["rows"] == [
        ["ISIC-18, Acc", "CBAFed", "+2.25", here, "2", "–", "open"]
    ]
    assert len(shown["table"]["head"]) == 7 and "Holds:" in shown["note"]


@pytest.mark.parametrize("name", ["table1", "table3", "table4", "fig8"])
def test_without_runs_or_their_table_there_are_no_leads(
    medium: Profile, name: str
) -> None:
    ours, rival = setting("isic18", "semianagg"), setting("isic18", "cbafed")
    some = [0.6, 0.62] if name == "table4" else [0.6]  # which has both arms as well
    runs = evidence_of(medium, {ours: some, rival: some})
    assert view_of(evidence_page([CATALOGUE[name]], runs))["beside_paper"] == {}
    nothing = Evidence(medium, 1, {})
    assert view_of(evidence_page([CATALOGUE[name]], nothing))["beside_paper"] == {}


def test_a_table_of_one_row_compares_nothing_and_is_left_out(tiny: Profile) -> None:
    one, two = setting("isic18", "uniform"), setting("isic18", "semianagg")
    table = Artifact("table1", "T", (Cell("a", one), Cell("b", two)))
    alone = evidence_of(tiny, {one: [0.5, 0.6]})
    assert view_of(evidence_page([table], alone))["tables"] == []
    both = evidence_of(tiny, {one: [0.5, 0.6], two: [0.6, 0.71]})
    (shown,) = view_of(evidence_page([table], both))["tables"]
    assert [row["title"] for row in shown["panels"][0]["rows"]] == ["a", "b"]
