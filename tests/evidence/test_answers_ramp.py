"""A labeled share that moves is compared with one half, worked by hand."""

from __future__ import annotations

import pytest
from tests.evidence.by_hand import answer, evidence_of

from fedsemi.evidence.catalogue import Setting, setting
from fedsemi.evidence.jobs import job_of
from fedsemi.evidence.profiles import Profile
from fedsemi.evidence.questions import MAIN


def mnist(arm: str) -> Setting:
    return setting("mnist", arm, **MAIN)


def test_the_falling_share_decides_and_the_rising_one_stands_beside_it(
    medium: Profile,
) -> None:
    found = answer(
        "q4-ramp",
        evidence_of(
            medium,
            {
                mnist("uniform"): [0.70, 0.72],
                mnist("uniform-share-falling"): [0.73, 0.75],
                mnist("uniform-share-rising"): [0.69, 0.71],
                mnist("uniform-share-30"): [0.68, 0.70],
            },
        ),
    )
    rows = {row[0]: row for row in found.rows}
    assert rows["Falling labeled share − 0.5, MNIST"][2].startswith("+3.00 (")
    assert rows["Rising labeled share − 0.5, MNIST"][2].startswith("−1.00 (")
    assert rows["Falling labeled share − 0.3, MNIST"][2].startswith("+5.00 (")
    assert "Rising labeled share − 0.7, MNIST" not in rows  # 0.7 was not run
    assert rows["Falling labeled share − 0.5, MNIST"][1] == "2 of 10 seeds so far"
    assert [part.told.split()[0] for part in found.parts] == ["ISIC-18", "MNIST"]
    assert found.parts[1].told.startswith("MNIST +3.00 (")  # the falling share's


@pytest.mark.parametrize(
    ("arm", "ends"),
    [("uniform-share-falling", (0.7, 0.3)), ("uniform-share-rising", (0.3, 0.7))],
)
def test_a_share_has_moved_before_a_run_ends(
    medium: Profile, arm: str, ends: tuple[float, float]
) -> None:
    for place in (setting("isic18", arm), mnist(arm)):
        stage = job_of(place, 1, medium).experiment.stages[-1]
        assert (stage.labeled_share, stage.labeled_share_end) == ends
        assert stage.ramp_rounds == 15 < stage.rounds
