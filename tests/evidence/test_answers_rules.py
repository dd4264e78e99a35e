"""Rules are compared with Eq. 4 and equal shares, those that were run."""

from __future__ import annotations

from tests.evidence.by_hand import answer, evidence_of

from fedsemi.evidence.catalogue import setting
from fedsemi.evidence.profiles import Profile
from fedsemi.evidence.questions import MAIN


def test_a_rule_that_beats_eq_4_in_every_seed_is_told_with_its_lead(
    medium: Profile,
) -> None:
    scores = {
        setting("mnist", "semianagg", **MAIN): [0.80, 0.82, 0.84],
        setting("mnist", "uniform", **MAIN): [0.78, 0.80, 0.82],
        setting("mnist", "class-mass", **MAIN): [0.83, 0.85, 0.87],
    }
    found = answer("q6", evidence_of(medium, scores))
    assert found.text[0].startswith("Class mass − SemiAnAgg, 1 holder: +3.00 points")
    shown = [row[0] for row in found.rows]
    assert shown == [
        "Class mass − SemiAnAgg, 1 holder",
        "Class mass − uniform, 1 holder",
    ]
    assert "Presence" not in found.finding
