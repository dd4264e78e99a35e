"""Answers by the rules of docs/questions.md."""

from __future__ import annotations

import pytest
from tests.evidence.by_hand import answer

from fedsemi.evidence.answers import answer_of
from fedsemi.evidence.catalogue import Setting
from fedsemi.evidence.profiles import Profile
from fedsemi.evidence.questions import QUESTIONS
from fedsemi.evidence.results import Evidence


@pytest.mark.parametrize("name", QUESTIONS)
def test_without_records_every_question_is_not_run(medium: Profile, name: str) -> None:
    found = answer(name, Evidence(medium, 1, {}))
    assert "not run" in found.finding and found.rows == () and found.plots == ()


@pytest.mark.parametrize("name", QUESTIONS)
def test_where_the_running_mean_decides_the_scores_of_all_arms_have_it(
    medium: Profile, name: str
) -> None:
    told = " ".join(answer(name, Evidence(medium, 1, {})).text)
    cells = QUESTIONS[name].cells
    by_mean, by_model = (
        [each.setting for each in cells if each.averaged is averaged]
        for averaged in (True, False)
    )
    decides = "The running mean decides here." in told
    assert by_mean == (by_model if decides else [])


@pytest.mark.parametrize("name", ["q8", "q9", "q10"])
def test_the_scores_of_all_arms_have_every_arm_that_is_compared(
    medium: Profile, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    compared: set[Setting] = set()

    def paired(_: Evidence, ours: Setting, other: Setting, metric: str) -> None:
        compared.update((ours, other))

    monkeypatch.setattr(Evidence, "paired", paired)
    answer(name, Evidence(medium, 1, {}))
    assert compared == set(QUESTIONS[name].settings)


def test_tables_and_figures_are_no_questions(medium: Profile) -> None:
    assert answer_of("table1", Evidence(medium, 1, {})) is None
