"""What goes on until an interval is narrow."""

from __future__ import annotations

from tests.evidence.by_hand import evidence_of, mnist, svhn

from fedsemi.evidence.catalogue import setting
from fedsemi.evidence.profiles import Profile
from fedsemi.evidence.questions import MAIN
from fedsemi.evidence.stopping import most_seeds

OURS, EQUAL = setting("svhn", "semianagg"), setting("svhn", "uniform")


def test_a_wide_interval_goes_on_against_the_arms_that_were_named(
    medium: Profile,
) -> None:
    evidence = evidence_of(medium, svhn(uniform=[0.5, 0.5], semianagg=[0.5, 0.6]))
    assert most_seeds(evidence, OURS, EQUAL) == 20
    assert most_seeds(evidence, OURS, setting("svhn", "presence")) == 0
    assert most_seeds(evidence, OURS, OURS.bound("upper")) == 0
    assert most_seeds(evidence, EQUAL, OURS) == 0


def test_a_narrow_one_ends_it_for_all_arms(medium: Profile) -> None:
    ours, presence = (
        setting("mnist", arm, **MAIN) for arm in ("semianagg", "presence")
    )
    wide = mnist(uniform=[0.5, 0.5], semianagg=[0.5, 0.6])
    narrow = mnist(uniform=[0.5, 0.5], semianagg=[0.7, 0.7])
    assert most_seeds(evidence_of(medium, wide), ours, presence) == 40
    assert most_seeds(evidence_of(medium, narrow), ours, presence) == 0
