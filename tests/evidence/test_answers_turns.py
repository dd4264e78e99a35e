"""Q9, worked by hand."""

from __future__ import annotations

from tests.evidence.by_hand import answer, evidence_of, svhn

from fedsemi.evidence.catalogue import Setting, setting
from fedsemi.evidence.jobs import job_of
from fedsemi.evidence.profiles import Profile
from fedsemi.evidence.questions import MAIN

FIVE, TEN = [0.80, 0.81, 0.82, 0.81, 0.80], [0.8, 0.81] * 5
LAST = "SemiFL − labels after the warm-up, five epochs, "


def _scores(lead: float, over_labels: float) -> dict[Setting, list[float | None]]:
    """Let SemiFL be ahead of equal shares, and of labels alone on MNIST, by so much."""
    on_mnist = {"uniform": lead, "labels-on-5": over_labels, "semifl": 0.0}
    return {
        **svhn(
            semifl=[*FIVE],
            uniform=[each - lead for each in FIVE],
            labels_on_5=[each - lead for each in FIVE],
        ),
        **{
            setting("mnist", arm, **MAIN): [each - behind for each in TEN]
            for arm, behind in on_mnist.items()
        },
    }


def test_turns_are_recommended_if_they_beat_both_where_all_of_a_network_learns(
    medium: Profile,
) -> None:
    found = answer("q9", evidence_of(medium, _scores(0.02, 0.01)))
    assert found.finding == "recommended"
    rows = {what: by_running for what, _, _, by_running, *_ in found.rows}
    assert rows["SemiFL − uniform, SVHN"].startswith("+2.00 (")
    assert rows[f"{LAST}MNIST"].startswith("+1.00 (")


def test_the_plot_shows_both_differences_that_decide(medium: Profile) -> None:
    (plot,) = answer("q9", evidence_of(medium, _scores(0.02, 0.01))).plots
    names = {row["name"] for row in plot["rows"]}
    assert {"SemiFL − uniform, SVHN", f"{LAST}SVHN", f"{LAST}MNIST"} < names


def test_one_tie_speaks_against_turns_by_name(medium: Profile) -> None:
    found = answer("q9", evidence_of(medium, _scores(0.02, 0.0)))
    assert found.finding == f"not recommended, because of {LAST}MNIST"


def test_nothing_is_judged_before_all_seeds_are_there(medium: Profile) -> None:
    scores = {key: each[:3] for key, each in _scores(0.02, 0.01).items()}
    found = answer("q9", evidence_of(medium, scores))
    assert found.finding == "not judged yet, 4 of 4 differences lack seeds"


def test_the_part_of_the_gap_is_told_by_the_running_mean(medium: Profile) -> None:
    scores = svhn(semifl=[0.80], warm_up=[0.70], upper=[0.90])
    found = answer("q9", evidence_of(medium, scores, lead=0.05))
    assert (
        "On SVHN, by the running mean, SemiFL's turns close 50 % of the gap between "
        "warm-up (75.0 %) and all labels (95.0 %; 1 seed)." in found.text
    )


def test_labels_alone_have_the_epochs_of_a_turn_in_each_round(
    medium: Profile,
) -> None:
    ours, labels = (
        job_of(setting("svhn", arm), 1, medium) for arm in ("semifl", "labels-on-5")
    )
    assert ours.warm_up is not None and labels.warm_up is not None
    assert ours.warm_up.sha256 == labels.warm_up.sha256
    last = ours.experiment.stages[-1], labels.experiment.stages[-1]
    assert last[0].rounds == last[1].rounds
    epochs = labels.experiment.local_of(last[1]).epochs
    assert last[0].settings["server_epochs"] == epochs == 5
