"""Answers by the rules of docs/questions.md, from records worked by hand."""

from __future__ import annotations

import pytest
from tests.evidence.by_hand import evidence_of

from fedsemi.evidence.answer import Answer
from fedsemi.evidence.answers import answer_of
from fedsemi.evidence.answers_rare import lonely_site
from fedsemi.evidence.catalogue import Setting, setting
from fedsemi.evidence.profiles import Profile, read_profile
from fedsemi.evidence.questions import MAIN, QUESTIONS
from fedsemi.evidence.results import Evidence

Scores = dict[Setting, list[float | None]]


@pytest.fixture(scope="module")
def medium() -> Profile:
    return read_profile("medium")


def answer(name: str, evidence: Evidence) -> Answer:
    found = answer_of(name, evidence)
    assert found is not None
    return found


def svhn(**scores: list[float | None]) -> Scores:
    return {
        setting("svhn", arm.replace("_", "-")): some for arm, some in scores.items()
    }


def mnist(**scores: list[float | None]) -> Scores:
    return {
        setting("mnist", arm.replace("_", "-"), **MAIN): some
        for arm, some in scores.items()
    }


@pytest.mark.parametrize("name", QUESTIONS)
def test_without_records_every_question_is_not_run(medium: Profile, name: str) -> None:
    found = answer(name, Evidence(medium, 1, {}))
    assert "not run" in found.finding and found.rows == () and found.plots == ()


def test_tables_and_figures_are_no_questions(medium: Profile) -> None:
    assert answer_of("table1", Evidence(medium, 1, {})) is None


def test_the_first_question_is_a_paired_difference_with_its_interval(
    medium: Profile,
) -> None:
    # Differences 1, 2, 3 points in three of five seeds: 2 ± 4.3027 / sqrt 3.
    scores = svhn(semianagg=[0.51, 0.62, 0.73], uniform=[0.50, 0.60, 0.70])
    found = answer("q1", evidence_of(medium, scores, lead=0.01))
    numbers = "+2.00 points (95 % interval −0.48 to +4.48, 3 of 5 seeds so far)"
    assert found.text[0].startswith(f"SemiAnAgg − uniform, SVHN: {numbers}")
    assert found.finding == "undecided so far"
    # A deviation of one point: 2.1009 / sqrt 18 is the first below half a point.
    assert "takes about 18 seeds, 15 more, a rough figure from so few" in found.text[1]


def test_before_the_planned_seeds_nothing_is_called_decided(medium: Profile) -> None:
    scores = svhn(semianagg=[0.52, 0.62, 0.721], uniform=[0.50, 0.60, 0.70])
    found = answer("q1", evidence_of(medium, scores))
    assert found.finding == "too early, above zero so far"
    assert not any("decided" in part for part in found.text)


def test_a_planned_number_of_seeds_decides(medium: Profile) -> None:
    ours = [0.51, 0.62, 0.71, 0.81, 0.92]
    scores = svhn(semianagg=[*ours], uniform=[0.50, 0.60, 0.70, 0.80, 0.90])
    found = answer("q1", evidence_of(medium, scores))
    assert found.finding == "decided, above zero" and "so far" not in found.text[0]
    assert found.rows[0][1] == "5 seeds"


def test_where_equal_shares_stand_between_the_bounds_is_told(medium: Profile) -> None:
    scores = svhn(uniform=[0.80], upper=[0.90], semianagg=[0.80])
    scores[setting("svhn", "warm-up")] = [0.60]
    found = answer("q1", evidence_of(medium, scores))
    # (80 - 60) / (90 - 60).
    assert "uniform weights close 67 % of the gap" in found.text[-1]


def test_a_bound_that_is_none_is_called_so(medium: Profile) -> None:
    scores = mnist(uniform=[0.80], upper=[0.65], semianagg=[0.80])
    scores[setting("mnist", "warm-up", **MAIN)] = [0.60]
    found = answer("q2", evidence_of(medium, scores))
    assert "all labels (65.0 %, 1 seed) is no upper bound" in found.text[-1]


def test_bounds_are_in_the_table_and_not_in_the_plot(medium: Profile) -> None:
    scores = svhn(uniform=[0.8], upper=[0.9], semianagg=[0.8], lower=[0.6])
    found = answer("q1", evidence_of(medium, scores))
    assert len(found.rows) == 3
    (plot,) = found.plots
    assert {row["name"] for row in plot["rows"]} == {"SemiAnAgg − uniform, SVHN"}


def test_the_map_has_its_cells_by_holders_and_labels(medium: Profile) -> None:
    far = dict(MAIN) | {"rare.holders": 4, "rare.labeled_size": 50}
    scores = mnist(uniform=[0.80, 0.81], semianagg=[0.83, 0.842])
    scores |= {setting("mnist", "uniform", **far): [0.7]}
    scores |= {setting("mnist", "semianagg", **far): [0.71]}
    found = answer("q3", evidence_of(medium, scores))
    plot, running = found.plots
    assert (plot["rows"], plot["columns"][0]) == (["1", "2", "4"], "50 labels")
    assert plot["cells"][0][1]["value"] == 3.1 and plot["cells"][0][1]["seeds"] == 2
    assert plot["cells"][2][0] == {"value": 1.0, "low": None, "high": None, "seeds": 1}
    assert plot["cells"][1] == [None] * 5
    assert "running mean" in running["title"]
    assert found.text[1] == "2 of 15 cells were run."


def test_the_dose_names_the_share_of_the_site_that_alone_holds_classes(
    medium: Profile,
) -> None:
    arms = ("uniform", "presence-half", "presence", "presence-double")
    scores = {setting("mnist", arm, **MAIN): [0.8] for arm in arms}
    partly = answer("q3-dose", evidence_of(medium, {**scores}))
    assert [plot["kind"] for plot in partly.plots] == ["intervals"]
    scores[setting("mnist", "presence-fourfold", **MAIN)] = [0.9]
    whole = answer("q3-dose", evidence_of(medium, {**scores}))
    dots = whole.plots[0]["points"]
    assert [dot["name"] for dot in dots] == ["0", "0.5", "1", "2", "4"]
    assert {dot["x"] for dot in dots} == {0.1} and dots[-1]["y"] == 90


def test_the_lonely_site_is_the_one_whose_classes_nobody_else_has() -> None:
    def own(*counts: int, labeled: int = 0) -> dict[str, object]:
        unlabeled = 0 if labeled else sum(counts)
        return {"num_unlabeled": unlabeled, "class_count": list(counts)}

    owns = {"0": own(9, 9, 9, labeled=27), "1": own(5, 0, 1), "2": own(5, 0, 1)}
    assert lonely_site(owns | {"3": own(1, 4, 0)}) == "3"


def test_a_labeled_share_is_compared_in_size_with_the_weights(medium: Profile) -> None:
    # The share costs 3 and 4 points, the weights bring 1 and 1: 2 and 3 more in size.
    scores = svhn(
        uniform=[0.50, 0.60],
        uniform_share_15=[0.47, 0.56],
        uniform_share_70=[0.51, 0.61],
        semianagg=[0.51, 0.61],
    )
    found = answer("q4", evidence_of(medium, scores))
    assert "Labeled share 0.15 − 0.5, SVHN: −3.50 points" in found.text[0]
    assert "largest of 2 changes, and 2.50 points larger in size" in found.text[0]
    assert found.finding == "SVHN: undecided so far; MNIST: not run"


def test_worth_is_a_rank_correlation_over_sites_in_each_seed(medium: Profile) -> None:
    whole, *rest = QUESTIONS["q5"].settings
    # Shares fall with the number of the site, and so does what is lost without it.
    scores: Scores = {whole: [0.80, 0.80]}
    scores |= {each: [0.70 + 0.01 * i, None] for i, each in enumerate(rest)}
    found = answer("q5", evidence_of(medium, scores))
    assert "by the global model: +1.00 (1 of 5 seeds so far)" in found.text[0]
    assert "first in both in 1 of 1 seeds" in found.text[-1]
    assert found.rows == (
        ("1", "+1.00", "+1.00", "0.100 (1)", "+10.00 (1)", "+10.00 (1)"),
    )


def test_a_seed_without_one_of_its_nine_runs_does_not_count(medium: Profile) -> None:
    whole, *rest = QUESTIONS["q5"].settings
    scores: Scores = {whole: [0.8]} | {each: [0.7] for each in rest[1:]}
    found = answer("q5", evidence_of(medium, scores))
    assert found.text == ("No seed has all nine runs yet (0 of 5 seeds so far).",)
