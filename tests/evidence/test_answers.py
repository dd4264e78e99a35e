"""Answers by the rules of docs/questions.md."""

from __future__ import annotations

import pytest
from tests.evidence.by_hand import answer

from fedsemi.evidence.answers import answer_of
from fedsemi.evidence.profiles import Profile
from fedsemi.evidence.questions import QUESTIONS
from fedsemi.evidence.results import Evidence


@pytest.mark.parametrize("name", QUESTIONS)
def test_without_records_every_question_is_not_run(medium: Profile, name: str) -> None:
    found = answer(name, Evidence(medium, 1, {}))
    assert "not run" in found.finding and found.rows == () and found.plots == ()


def test_tables_and_figures_are_no_questions(medium: Profile) -> None:
    assert answer_of("table1", Evidence(medium, 1, {})) is None
