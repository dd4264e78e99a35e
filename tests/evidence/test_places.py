"""The same comparison at several places."""

from __future__ import annotations

from tests.evidence.by_hand import evidence_of, mnist, svhn

from fedsemi.evidence.places import ENCODER, ONE_HOLDER, SVHN, TWO_HOLDERS, effects_at
from fedsemi.evidence.profiles import Profile

CALLED = {"uniform": "equal", "labels-on": "labels"}


def test_each_place_has_its_own_difference_planned_seeds_and_name(
    medium: Profile,
) -> None:
    scores = svhn(uniform=[0.8], labels_on=[0.7])
    scores |= mnist(uniform=[0.6, 0.6], labels_on=[0.7, 0.7])
    places = {"SVHN": SVHN, "one": ONE_HOLDER, "two": TWO_HOLDERS, **ENCODER}
    found = effects_at(
        places, evidence_of(medium, scores), "uniform", "labels-on", CALLED
    )
    assert list(found) == ["SVHN", "one", "two", "ISIC-18", "CIFAR-100"]
    assert found["SVHN"].what == "Equal − labels, SVHN"
    assert (found["SVHN"].progress, found["one"].progress) == (
        "1 of 5 seeds so far",
        "2 of 10 seeds so far",
    )
    assert found["two"].test is None and found["ISIC-18"].test is None
    one = found["one"].test
    assert one is not None and round(one.mean, 6) == -10


def test_the_running_mean_decides_at_every_place(medium: Profile) -> None:
    scores = svhn(uniform=[0.8], labels_on=[0.7])
    found = effects_at(
        {"SVHN": SVHN}, evidence_of(medium, scores), "uniform", "labels-on", CALLED
    )
    assert found["SVHN"].test is found["SVHN"].tests["running_mean.accuracy"]
