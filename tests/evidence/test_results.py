"""Tables from records, with numbers by hand."""

from __future__ import annotations

from typing import Any

from fedsemi.evidence.catalogue import Artefact, Cell, Setting, setting
from fedsemi.evidence.jobs import job_of
from fedsemi.evidence.profiles import Profile
from fedsemi.evidence.render import as_csv, as_markdown
from fedsemi.evidence.results import Evidence

ARMS = {"warm-up": 66.25, "upper": 80.78, "fedavg-semi": 67.79, "semianagg": 72.24}
OURS = {
    "warm-up": (0.40, 0.42),
    "upper": (0.80, 0.82),
    "fedavg-semi": (0.55, 0.57),
    "semianagg": (0.60, 0.64),
}


def record(accuracy: float) -> dict[str, Any]:
    """Six tests, of which the last five count."""
    tests = {"stage": [1] * 6, "round": list(range(6))}
    return {
        "config": {"guard": {"enabled": False}},
        "rounds": {**tests, "accuracy": [0.0] + [accuracy] * 5},
    }


def evidence_of(profile: Profile) -> Evidence:
    records = {}
    for arm, values in OURS.items():
        for seed, value in enumerate(values, start=1):
            one = setting("isic18", arm)
            job = job_of(one, seed, profile)
            records[job.key] = record(value)
    return Evidence(profile, 2, records)


def artefact() -> Artefact:
    cells = [Cell(a, setting("isic18", a), "accuracy", p) for a, p in ARMS.items()]
    return Artefact("table0", "Four rows", tuple(cells))


def test_paper_ours_gap_and_verdict_stand_side_by_side(tiny: Profile) -> None:
    *_, semi, ours = evidence_of(tiny).lines(artefact())
    assert ours.ours is not None and round(ours.ours.mean, 6) == 62.0
    # (62 - 41) / (81 - 41), and (72.24 - 66.25) / (80.78 - 66.25) in the paper.
    assert ours.gap is not None and round(ours.gap, 6) == 0.525
    assert ours.paper_gap is not None and round(ours.paper_gap, 4) == 0.4123
    # Differences 5 and 7: the interval 6 ± 12.706 includes zero.
    assert semi.verdict == "SemiAnAgg +6.0, undecided (paper +4.45)"


def test_the_gap_is_measured_from_the_warm_up(tiny: Profile) -> None:
    # Labeled only for all rounds would be 45: (62 - 45) / (81 - 45) is another share.
    evidence = evidence_of(tiny)
    job = job_of(setting("isic18", "lower"), 1, tiny)
    more = Evidence(tiny, 2, {**evidence.records, job.key: record(0.45)})
    assert more.lines(artefact())[-1].gap == evidence.lines(artefact())[-1].gap


def test_a_number_names_its_seeds_and_profile(tiny: Profile) -> None:
    text = as_markdown(artefact(), evidence_of(tiny))
    assert "| 72.24 | 62.0 ± 2.8 (2 seeds, smoke) | 52% (paper 41%) |" in text
    assert "not the paper's scale" in text
    assert "Guard off" in text


def test_what_was_not_run_is_called_so(tiny: Profile) -> None:
    lines = Evidence(tiny, 1, {}).lines(artefact())
    assert {line.verdict for line in lines} == {"not run"}
    assert "not run" in as_csv(artefact(), Evidence(tiny, 1, {}))


def test_the_upper_bound_ignores_who_has_labels() -> None:
    part = Setting("svhn", "semianagg", (("labeled_fraction", 0.1), ("num_clients", 5)))
    assert part.bound("upper") == setting("svhn", "upper", num_clients=5)
    assert part.bound("warm-up").partition == part.partition
