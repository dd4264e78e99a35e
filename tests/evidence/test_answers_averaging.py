"""Q8, worked by hand."""

from __future__ import annotations

from tests.evidence.by_hand import answer, evidence_of, mnist, svhn

from fedsemi.evidence.catalogue import setting
from fedsemi.evidence.jobs import job_of
from fedsemi.evidence.profiles import Profile


def test_the_running_mean_decides_what_unlabeled_sites_bring(medium: Profile) -> None:
    scores = svhn(uniform=[0.80, 0.81, 0.82], labels_on=[0.70, 0.71, 0.72])
    evidence = evidence_of(medium, scores)
    for record in evidence.found(setting("svhn", "labels-on")).values():
        tests = record["rounds"]  # averaged it is as good: 0.1 more
        tests["running_mean.accuracy"] = [a + 0.1 for a in tests["accuracy"]]
    found = answer("q8", evidence)
    assert found.finding.startswith("SVHN: no effect worth having so far; MNIST: not")
    what, seeds, by_global, by_running, *_ = found.rows[0]
    assert (what, seeds) == (
        "Uniform − labels after the warm-up, SVHN",
        "3 of 5 seeds so far",
    )
    assert by_global == "+10.00 (+10.00 to +10.00)"
    assert by_running.lstrip("+−").startswith("0.00 (")
    assert found.text[0].startswith("The running mean decides here.")


def test_what_was_asked_afterwards_stands_beside_it_and_says_so(
    medium: Profile,
) -> None:
    scores = mnist(uniform=[0.7] * 10, semianagg=[0.75] * 10, labels_on=[0.8] * 10)
    found = answer("q8", evidence_of(medium, scores))
    (also,) = [part for part in found.parts if part.word == "Also"]
    told = "SemiAnAgg − labels after the warm-up, MNIST −5.00 (−5.00 to −5.00)"
    assert also.told == told
    assert "asked when the records had been seen" in found.text[0]


def test_the_plots_show_what_was_asked_and_what_is_told_though_about_bounds(
    medium: Profile,
) -> None:
    arms = ("uniform", "labels_on", "semianagg", "warm_up")
    scores = svhn(**{arm: [0.8, 0.9] for arm in arms})
    plots = answer("q8", evidence_of(medium, scores)).plots
    asked, begun = ({row["name"] for row in plot["rows"]} for plot in plots)
    assert asked == {
        "Uniform − labels after the warm-up, SVHN",
        "SemiAnAgg − labels after the warm-up, SVHN",
    }
    assert begun == {
        "Uniform − the warm-up's model, SVHN",
        "Labels after the warm-up − the warm-up's model, SVHN",
    }


def test_labels_only_go_on_from_the_warm_up_that_methods_have(medium: Profile) -> None:
    equal, labels = (
        job_of(setting("svhn", arm), 1, medium) for arm in ("uniform", "labels-on")
    )
    assert labels.warm_up is not None and equal.warm_up is not None
    assert labels.warm_up.sha256 == equal.warm_up.sha256
    rounds = [stage.rounds for stage in labels.experiment.stages]
    assert rounds == [stage.rounds for stage in equal.experiment.stages]


def test_a_lead_over_labels_alone_may_be_none_over_the_warm_up(medium: Profile) -> None:
    scores = {
        setting("isic18", arm): [value] * 5
        for arm, value in {"uniform": 0.4, "labels-on": 0.3, "warm-up": 0.4}.items()
    }
    evidence = evidence_of(medium, scores)
    for record in evidence.records.values():
        tests = record["rounds"]
        tests["running_mean.balanced_accuracy"] = tests["accuracy"]
    (part,) = [p for p in answer("q8", evidence).parts if p.brief.startswith("ISIC-18")]
    assert part.word == "Yes" and part.brief == "ISIC-18 +10.00 †"
    assert part.told.endswith("; not over the warm-up's model, +0.00 (+0.00 to +0.00)")
