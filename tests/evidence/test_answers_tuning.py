"""Published methods are shown with every setting that was tried, the best one named."""

from __future__ import annotations

from tests.evidence.by_hand import answer, evidence_of

from fedsemi.evidence.arms import ARMS, TRIED
from fedsemi.evidence.catalogue import setting
from fedsemi.evidence.profiles import Profile, read_profile
from fedsemi.evidence.questions import QUESTIONS


def test_the_best_of_the_settings_is_named_with_its_lead_over_labels_alone(
    medium: Profile,
) -> None:
    scores = {
        setting("svhn", "lower"): [0.70, 0.72],
        setting("svhn", "rscfed"): [0.60, 0.62],
        setting("svhn", "rscfed-slow"): [0.73, 0.75],
    }
    found = answer("q7", evidence_of(medium, scores))
    what = "RSCFed, rate 0.01 − labels only, SVHN"
    assert found.finding == f"too early, above zero so far: {what}"
    assert found.text[0].startswith(f"{what}: +3.00 points")
    assert [row[1:4] for row in found.rows] == [
        ("RSCFed", "2", "61.0 Acc"),
        ("RSCFed, rate 0.01 (chosen with other seeds)", "2", "74.0 Acc"),
    ]
    assert found.rows[0][4].startswith("−10.00")


def test_intervals_decide_and_a_mean_below_zero_alone_does_not(
    medium: Profile,
) -> None:
    scores = {
        setting("svhn", "lower"): [0.40, 0.42, 0.44],
        setting("svhn", "isofed"): [0.38, 0.40, 0.42],
        setting("svhn", "isofed-own"): [0.36, 0.42, 0.45],
        setting("svhn", "cbafed"): [0.38, 0.401, 0.42],
    }
    found = answer("q7", evidence_of(medium, scores))
    chosen = f"{ARMS['isofed-own'].title} − labels only, SVHN"
    assert found.finding == (
        f"decided, below zero: CBAFed − labels only, SVHN. undecided: {chosen}"
    )
    assert found.rows[0][1] == "CBAFed (as published)"


def test_a_lead_that_labels_after_the_warm_up_do_not_share_says_so(
    medium: Profile,
) -> None:
    scores = {
        setting("svhn", "lower"): [0.70, 0.71, 0.72],
        setting("svhn", "labels-on"): [0.75, 0.76, 0.77],
        setting("svhn", "rscfed"): [0.75, 0.77, 0.76],
        setting("svhn", "cbafed"): [0.80, 0.81, 0.82],
    }
    cbafed, rscfed, _ = answer("q7", evidence_of(medium, scores)).parts[3:]
    assert cbafed.word == rscfed.word == "Yes"
    assert cbafed.told == "CBAFed as published, SVHN +10.00 (+10.00 to +10.00)"
    assert "; not over labels after the warm-up, +0.00 (" in rscfed.told


def test_of_many_settings_the_highest_is_chosen_where_choices_are_made() -> None:
    choosing = read_profile("choosing", [])
    scores = {setting("svhn", "lower"): [0.40, 0.42]}
    for number, arm in enumerate(TRIED["rscfed"]):
        scores[setting("svhn", arm)] = [0.40 + number / 100, 0.43 + number / 100]
    found = answer("q7", evidence_of(choosing, scores))
    assert found.rows[-1][1].endswith("(highest of 4 settings)")
    assert "so far" not in found.text[0]


def test_without_a_run_nothing_is_claimed(medium: Profile) -> None:
    found = answer("q7", evidence_of(medium, {}))
    assert (found.finding, found.rows) == ("not run", ())


def test_each_published_method_has_as_many_settings_to_choose_from() -> None:
    assert {name: len(arms) for name, arms in TRIED.items()} == {
        "cbafed": 4,
        "rscfed": 4,
        "isofed": 4,
    }
    written = [each.dataset for each in QUESTIONS["q7"].settings]
    # Labels only beside them; on SVHN the published ones were enough.
    assert (written.count("isic18"), written.count("svhn")) == (1 + 12, 1 + 3)


def test_a_setting_changes_what_it_says_and_nothing_else(medium: Profile) -> None:
    for name, (own, slow, other, both) in TRIED.items():
        stages = [
            medium.content(setting("svhn", arm), 1)["stages"]
            for arm in (own, slow, other, both)
        ]
        assert all(each[0] == stages[0][0] for each in stages), name
        last = [each[-1] for each in stages]
        rate = {"clip": "all", "lr_unlabeled": 0.01}
        assert last[1] == last[0] | {"local": rate}
        assert last[3] == last[2] | {"local": rate}
        changed = {key for key in last[2] if last[2][key] != last[0].get(key)}
        assert changed == {
            "labeled_epochs" if name == "cbafed" else "unsupervised_weight"
        }
