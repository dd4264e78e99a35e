"""Q3 and its dose, worked by hand."""

from __future__ import annotations

from tests.evidence.by_hand import answer, evidence_of, mnist

from fedsemi.evidence.answers_rare import lonely_site
from fedsemi.evidence.catalogue import setting
from fedsemi.evidence.profiles import Profile
from fedsemi.evidence.questions import MAIN


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
