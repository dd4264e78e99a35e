"""How right pseudo-labels are counts images, not sites."""

from __future__ import annotations

from tests.evidence.by_hand import record_of

from fedsemi.evidence.catalogue import setting
from fedsemi.evidence.jobs import job_of
from fedsemi.evidence.profiles import Profile
from fedsemi.evidence.pseudo_labels import FIRST, right_part
from fedsemi.evidence.results import Evidence

PLACE = setting("svhn", "uniform")


def _evidence(medium: Profile, **clients: object) -> Evidence:
    job = job_of(PLACE, 1, medium)
    record = record_of(job, 0.8)
    record["clients"] |= clients
    return Evidence(medium, 1, {job.key: record})


def test_a_site_with_three_times_the_pseudo_labels_counts_three_times(
    medium: Profile,
) -> None:
    found = _evidence(
        medium,
        num_pseudo={"1": [10, 30], "2": [30, 10]},
        pseudo_label_accuracy={"1": [1.0, 0.5], "2": [0.5, 0.9]},
    )
    assert right_part(found, PLACE, FIRST) == 0.625  # (10 + 15) / 40
    assert right_part(found, PLACE) == 0.6  # (15 + 9) / 40, the last round


def test_sites_without_pseudo_labels_do_not_count(medium: Profile) -> None:
    found = _evidence(
        medium,
        num_pseudo={"1": [0], "2": [20]},
        pseudo_label_accuracy={"1": [None], "2": [0.25]},
    )
    assert right_part(found, PLACE) == 0.25
    assert right_part(_evidence(medium), PLACE) is None
