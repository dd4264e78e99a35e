"""Q1 and Q2, worked by hand."""

from __future__ import annotations

from tests.evidence.by_hand import answer, evidence_of, mnist, svhn

from fedsemi.evidence.catalogue import setting
from fedsemi.evidence.profiles import Profile
from fedsemi.evidence.questions import MAIN


def test_the_first_question_is_a_paired_difference_with_its_interval(
    medium: Profile,
) -> None:
    # Differences 1, 2, 3 points in three of five seeds: 2 ± 4.3027 / sqrt 3.
    scores = svhn(semianagg=[0.51, 0.62, 0.73], uniform=[0.50, 0.60, 0.70])
    found = answer("q1", evidence_of(medium, scores, lead=0.01))
    numbers = "+2.00 points (95 % interval −0.48 to +4.48, 3 of 20 seeds so far)"
    assert found.text[0].startswith(f"SemiAnAgg − uniform, SVHN: {numbers}")
    assert found.finding.startswith("SemiAnAgg − uniform: undecided so far; ")
    # A deviation of one point: 2.1009 / sqrt 18 is the first below half a point.
    assert "takes about 18, 15 more" in found.text[1]
    assert found.text[1].endswith(", rough figures from so few.")


def test_before_the_planned_seeds_nothing_is_called_decided(medium: Profile) -> None:
    scores = svhn(semianagg=[0.52, 0.62, 0.721], uniform=[0.50, 0.60, 0.70])
    found = answer("q1", evidence_of(medium, scores))
    assert found.finding.startswith("SemiAnAgg − uniform: too early, above zero so far")
    assert not any("decided" in part for part in found.text)


def test_a_planned_number_of_seeds_decides(medium: Profile) -> None:
    ours, equal = [0.51, 0.62, 0.71, 0.81, 0.92] * 4, [0.5, 0.6, 0.7, 0.8, 0.9] * 4
    found = answer("q1", evidence_of(medium, svhn(semianagg=[*ours], uniform=[*equal])))
    assert found.finding.startswith("SemiAnAgg − uniform: decided, above zero;")
    assert "so far" not in found.text[0].partition("Uniform −")[0]
    assert found.rows[0][1] == "20 seeds"


def test_a_narrow_interval_does_not_end_what_has_a_number(medium: Profile) -> None:
    ours, equal = [0.50, 0.60, 0.702, 0.80, 0.902] * 4, [0.5, 0.6, 0.7, 0.8, 0.9] * 4
    some = svhn(semianagg=ours[:19], uniform=equal[:19])
    found = answer("q1", evidence_of(medium, some))
    assert found.rows[0][1] == "19 of 20 seeds so far"
    assert [part.word for part in found.parts] == ["Open"]
    whole = answer("q1", evidence_of(medium, svhn(semianagg=[*ours], uniform=[*equal])))
    assert [part.word for part in whole.parts] == ["No"]


def test_the_short_answer_says_how_much_weight_was_moved(medium: Profile) -> None:
    evidence = evidence_of(medium, svhn(semianagg=[0.5, 0.5], uniform=[0.5, 0.5]))
    for record in evidence.records.values():
        # Of .25 each, .05 went to the other site, in the one round.
        record["clients"]["contribution"] = {"1": [0.30], "2": [0.20]}
    (part,) = answer("q1", evidence).parts
    assert part.told.endswith("seeds so far, 5.0 % of the weight moved")


def test_nothing_worth_having_is_not_claimed_while_seeds_go_on(
    medium: Profile,
) -> None:
    # SemiAnAgg − uniform is ± 0.75, so presence, which is as good, goes on as well.
    scores = mnist(
        semianagg=[0.80] * 10, uniform=[0.79, 0.77] * 5, presence=[0.80] * 10
    )
    found = answer("q2", evidence_of(medium, scores))
    assert found.finding.endswith("MNIST: no effect worth having so far")
    part = found.parts[-1]
    assert part.word == "Open"
    assert part.told.endswith("within ±0.5 so far, 10 of at most 40 seeds")


def test_where_equal_shares_stand_between_the_bounds_is_told(medium: Profile) -> None:
    scores = svhn(uniform=[0.80], upper=[0.90], semianagg=[0.80])
    scores[setting("svhn", "warm-up")] = [0.60]
    found = answer("q1", evidence_of(medium, scores))
    # (80 - 60) / (90 - 60).
    (told,) = [part for part in found.text if "of the gap" in part]
    assert told.startswith("On SVHN uniform weights close 67 % of the gap")
    assert "; by the running mean uniform weights close 67 %" in told


def test_equal_shares_below_the_warm_up_are_called_so(medium: Profile) -> None:
    scores = svhn(uniform=[0.58], upper=[0.90], semianagg=[0.80])
    scores[setting("svhn", "warm-up")] = [0.60]
    found = answer("q1", evidence_of(medium, scores))
    assert any("(58.0 %) are below the warm-up (60.0 %;" in each for each in found.text)


def test_a_bound_that_is_none_is_called_so(medium: Profile) -> None:
    scores = mnist(uniform=[0.80], upper=[0.65], semianagg=[0.80])
    scores[setting("mnist", "warm-up", **MAIN)] = [0.60]
    found = answer("q2", evidence_of(medium, scores))
    assert "all labels (65.0 %, 1 seed) is no upper bound" in found.text[-2]
    assert "the one that has all digits has 50 % of the mean" in found.text[-1]


def test_a_bound_that_bounds_is_not_explained_away(medium: Profile) -> None:
    scores = mnist(uniform=[0.60], upper=[0.90], semianagg=[0.80])
    found = answer("q2", evidence_of(medium, scores))
    assert not any("no bound here" in each for each in found.text)


def test_bounds_are_in_the_table_and_not_in_the_plot(medium: Profile) -> None:
    scores = svhn(uniform=[0.8], upper=[0.9], semianagg=[0.8], lower=[0.6])
    found = answer("q1", evidence_of(medium, scores))
    assert len(found.rows) == 4
    (plot,) = found.plots
    assert {row["name"] for row in plot["rows"]} == {"SemiAnAgg − uniform, SVHN"}


def test_on_isic_balanced_accuracy_decides_and_unlabeled_sites_must_help_first(
    medium: Profile,
) -> None:
    scores = {
        setting("isic18", "semianagg"): [0.38, 0.39],
        setting("isic18", "uniform"): [0.37, 0.38],
        setting("isic18", "lower"): [0.35, 0.37],
    }
    evidence = evidence_of(medium, scores)
    for record in evidence.records.values():  # accuracy says the opposite
        tests = record["rounds"]
        tests["accuracy"] = [1 - value for value in tests["accuracy"]]
    found = answer("q1-isic18", evidence)
    assert found.text[0].startswith("SemiAnAgg − uniform, ISIC-18: +1.00 points")
    assert "Uniform − labels only, ISIC-18: +1.50 points" in found.text[0]
    assert found.note.endswith("On ISIC-18 points are of balanced accuracy.")
    assert found.rows[0][-1].startswith("accuracy −1.00")


def test_on_cifar_accuracy_decides(medium: Profile) -> None:
    scores = {
        setting("cifar100", "semianagg"): [0.41, 0.43],
        setting("cifar100", "uniform"): [0.40, 0.43],
        setting("cifar100", "lower"): [0.39, 0.40],
    }
    found = answer("q1-cifar100", evidence_of(medium, scores))
    assert found.text[0].startswith("SemiAnAgg − uniform, CIFAR-100: +0.50 points")
    assert "Uniform − labels only, CIFAR-100: +2.00 points" in found.text[0]
    assert "balanced" not in found.note and found.head[-1] != "by other metrics"
