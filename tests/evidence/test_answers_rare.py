"""Q3, worked by hand."""

from __future__ import annotations

from tests.evidence.by_hand import answer, evidence_of, mnist

from fedsemi.evidence.catalogue import setting
from fedsemi.evidence.profiles import Profile
from fedsemi.evidence.questions import MAIN
from fedsemi.evidence.short import Part

ARMS = ("uniform", "semianagg")


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
    assert found.text[-1] == "2 of 15 cells were run."
    told = "yes in 0, no in 0, open in 15 of 15 cells, of which 15 lack seeds"
    assert Part("Map", told) in found.parts


def test_a_color_means_the_same_difference_by_both_scores(medium: Profile) -> None:
    ours, equal = (setting("mnist", arm, **MAIN) for arm in ("semianagg", "uniform"))
    evidence = evidence_of(medium, {equal: [0.8, 0.8], ours: [0.82, 0.83]})
    for record in evidence.found(ours).values():
        tests = record["rounds"]  # by the running mean the lead is 4 points more
        tests["running_mean.accuracy"] = [a + 0.04 for a in tests["accuracy"]]
    by_model, by_mean = answer("q3", evidence).plots
    assert by_model["cells"][0][1]["value"] == 2.5
    assert by_model["most"] == by_mean["most"] == by_mean["cells"][0][1]["value"] == 6.5


def test_a_cell_with_all_seeds_says_yes_or_no(medium: Profile) -> None:
    four = dict(MAIN) | {"rare.holders": 4}
    scores = mnist(uniform=[0.8] * 10, semianagg=[0.83, 0.84] * 5)
    scores |= {setting("mnist", arm, **four): [0.8] * 10 for arm in ARMS}
    one, two, half, counted, falls = answer("q3", evidence_of(medium, scores)).parts
    assert [one.word, two.word, half.word] == ["Yes", "Open", "No"]
    assert one.told.startswith("MNIST, half of the digits at 1 of nine +3.50 (")
    assert counted.told == (
        "yes in 1, no in 1, open in 13 of 15 cells, of which 13 lack seeds"
    )
    assert falls.word == "Yes"
    assert falls.told.startswith(
        "SemiAnAgg's lead over equal shares with 1 holder less that with 4, MNIST, "
        "200 labels +3.5"
    )


def test_leads_are_compared_seed_by_seed(medium: Profile) -> None:
    # Leads of 2 and 4 points with one holder, 1 and 1 with four: 1 and 3 less.
    four = dict(MAIN) | {"rare.holders": 4}
    scores = mnist(uniform=[0.80, 0.70], semianagg=[0.82, 0.74])
    scores |= {setting("mnist", "uniform", **four): [0.50, 0.60]}
    scores |= {setting("mnist", "semianagg", **four): [0.51, 0.61]}
    (told,) = [
        part
        for part in answer("q3", evidence_of(medium, scores)).text
        if "with 1 holder less that with 4" in part
    ]
    assert "+2.00 points (95 % interval −10.71 to +14.71, 2 of 10 seeds" in told


def test_the_region_in_which_to_care_is_named(medium: Profile) -> None:
    four = dict(MAIN) | {"rare.holders": 4}
    scores = mnist(uniform=[0.8] * 10, semianagg=[0.83, 0.84] * 5)
    scores |= {setting("mnist", arm, **four): [0.8] * 10 for arm in ARMS}
    (told,) = [
        part
        for part in answer("q3", evidence_of(medium, scores)).text
        if part.startswith("Weights are worth having")
    ]
    assert told.startswith(
        "Weights are worth having with 1 holder (200 labels); make no difference "
        "worth having with 4 holders (200 labels); elsewhere it is open."
    )


def test_a_loss_is_not_called_a_difference_that_does_not_matter(
    medium: Profile,
) -> None:
    scores = mnist(uniform=[0.8] * 10, semianagg=[0.78, 0.79] * 5)
    (told,) = [
        part
        for part in answer("q3", evidence_of(medium, scores)).text
        if part.startswith("Weights")
    ]
    assert told.startswith("Weights cost with 1 holder (200 labels); elsewhere")


def test_seeds_that_are_missing_leave_a_cell_without_a_claim(medium: Profile) -> None:
    scores = mnist(uniform=[0.80, 0.80], semianagg=[0.82, 0.82])
    plot, _ = answer("q3", evidence_of(medium, scores)).plots
    assert plot["planned"] == 10 and "dashed" in plot["note"]


def test_each_cell_says_how_many_seeds_it_takes(medium: Profile) -> None:
    # Differences 1, 2, 3: a deviation of one point takes 18 seeds.
    scores = mnist(uniform=[0.80, 0.80, 0.80], semianagg=[0.81, 0.82, 0.83])
    found = answer("q3", evidence_of(medium, scores))
    needed = [row for row in found.rows if row[0] == "seeds for ±0.5"]
    assert needed[0] == ("seeds for ±0.5", "1", "–", "18", "–", "–", "–")
