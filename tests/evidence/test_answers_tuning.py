"""Published methods are shown with every setting that was tried, the best one named."""

from __future__ import annotations

from tests.evidence.by_hand import answer, evidence_of

from fedsemi.evidence.arms import ARMS, TRIED
from fedsemi.evidence.catalogue import setting
from fedsemi.evidence.profiles import Profile
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
    assert found.finding == "none below"
    text = "SVHN, RSCFed, rate 0.01 (highest of 2 settings): +3.00 points"
    assert found.text[0].startswith(text)
    assert [row[1:4] for row in found.rows] == [
        ("RSCFed", "2", "61.0 Acc"),
        ("RSCFed, rate 0.01 (highest)", "2", "74.0 Acc"),
    ]
    assert found.rows[0][4].startswith("−10.00")


def test_a_method_whose_best_setting_is_below_labels_alone_is_the_finding(
    medium: Profile,
) -> None:
    scores = {
        setting("isic18", "lower"): [0.40],
        setting("isic18", "isofed"): [0.38],
        setting("isic18", "isofed-own"): [0.39],
        setting("isic18", "cbafed"): [0.41],
    }
    found = answer("q7", evidence_of(medium, scores))
    title = ARMS["isofed-own"].title
    assert found.finding == f"below labels alone: {title}, ISIC-18"
    assert "CBAFed (the only setting so far): +1.00 points" in found.text[0]


def test_without_a_run_nothing_is_claimed(medium: Profile) -> None:
    found = answer("q7", evidence_of(medium, {}))
    assert (found.finding, found.rows) == ("not run", ())


def test_each_published_method_has_as_many_settings_to_choose_from() -> None:
    assert {name: len(arms) for name, arms in TRIED.items()} == {
        "cbafed": 4,
        "rscfed": 4,
        "isofed": 4,
    }
    written = [each.arm for each in QUESTIONS["q7"].settings]
    assert len(written) == 2 * (1 + 12)


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
