"""What a reader must know stands at the table, in words."""

from __future__ import annotations

from tests.evidence.by_hand import evidence_of

from fedsemi.evidence.captions import remarks
from fedsemi.evidence.catalogue import Artifact, Cell, setting
from fedsemi.evidence.figures import FIGURES
from fedsemi.evidence.profiles import Profile, read_profile
from fedsemi.evidence.render import as_markdown
from fedsemi.evidence.tables import TABLES


def test_notes_are_sentences_about_somebody_and_no_codes(tiny: Profile) -> None:
    evidence = evidence_of(tiny, {setting("isic18", "semianagg"): [0.5, 0.6]})
    text = as_markdown(TABLES["table1"], evidence)
    assert "- IsoFed (our reading): Our reading, not the authors' code." in text
    assert (
        "- ISIC-18: Published ISIC-18 numbers are split by image" in text
        and "rscfed-c100" not in text
    )
    assert "- Guard off: shares are those that each method defines." in text


def test_the_setting_is_told_from_the_records(tiny: Profile) -> None:
    evidence = evidence_of(tiny, {setting("isic18", "semianagg"): [0.5]})
    (first, *_) = remarks(TABLES["table3"], evidence)
    assert first.startswith("ISIC-18: 4,700 training images")
    assert "at 10 clients, 5.0 % of them labeled; resnet8" in first
    assert "1 + 2 rounds (warm-up first), tested every 2" in first
    assert "flexmatch" in first


def test_the_labeled_share_is_told_from_the_least_to_the_most(tiny: Profile) -> None:
    evidence = evidence_of(tiny, {setting("isic18", "semianagg"): [0.5, 0.6]})
    records = evidence.found(setting("isic18", "semianagg")).values()
    for record, share in zip(records, (0.101, 0.054), strict=True):
        record["labeled_share"] = share
    (first, *_) = remarks(TABLES["table3"], evidence)
    assert "5.4 to 10.1 % of them labeled" in first


def test_a_method_below_labels_only_is_named_with_how_right_it_labels(
    tiny: Profile,
) -> None:
    arms = ("lower", "cbafed", "uniform")
    places = {arm: setting("svhn", arm, labeled_fraction=0.1) for arm in arms}
    evidence = evidence_of(
        tiny,
        {
            places["lower"]: [0.70, 0.72, 0.74],
            places["cbafed"]: [0.60, 0.62, 0.64],
            places["uniform"]: [0.60, 0.72, 0.90],  # on average above
        },
    )
    for arm, parts in {"cbafed": [0.2, 0.4], "uniform": [0.9, None]}.items():
        for record in evidence.found(places[arm]).values():
            record["clients"]["num_pseudo"] = {"1": [9, 30], "2": [9, 10]}
            found = {"1": [0.0, parts[0]], "2": [0.0, parts[1]]}
            record["clients"]["pseudo_label_accuracy"] = found
    text = [each for each in remarks(TABLES["table7"], evidence) if "points" in each]
    assert text == [
        "SVHN, labeled fraction 0.1: CBAFed is 10.0 points of Acc below labels only "
        "(3 seeds); in the last round 25% of its pseudo-labels are right, with uniform "
        "weights 90%."
    ]


def test_a_figure_says_what_it_lacks() -> None:
    medium = read_profile("medium")
    evidence = evidence_of(medium, {setting("isic18", "semianagg"): [0.5]})
    found = remarks(FIGURES["fig5"], evidence)
    assert found[0].startswith("Not run of 'One and two labeled clients, ")
    assert ": RSCFed; " in found[0]
    assert "SemiAnAgg, paper's rule, labeled clients 2." in found[0]
    curves = remarks(FIGURES["fig9"], evidence)[0]
    assert "lost without each client': without client 1;" in curves


def test_what_was_not_run_has_no_caveats(tiny: Profile) -> None:
    evidence = evidence_of(tiny, {setting("svhn", "semianagg"): [0.5]})
    text = " ".join(remarks(TABLES["table1"], evidence))
    assert "SVHN: The paper calls SVHN's test set balanced" in text
    assert "split by image" not in text


def test_the_setting_is_that_of_few_labels_though_a_bound_was_run_first(
    tiny: Profile,
) -> None:
    scores = {setting("isic18", "upper"): [0.9], setting("isic18", "lower"): [0.5]}
    evidence = evidence_of(tiny, scores)
    for arm, share in (("upper", 1.0), ("lower", 0.05)):
        for record in evidence.found(setting("isic18", arm)).values():
            record["labeled_share"] = share
    first, *_ = remarks(TABLES["table1"], evidence)
    assert "5.0 % of them labeled" in first


def test_a_method_with_a_learner_of_its_own_has_a_setting_too(tiny: Profile) -> None:
    # The learner of SSIL-CDM selects by other rules than a cutoff.
    for arm in ("ssil-cdm", "rscfed", "upper"):
        evidence = evidence_of(tiny, {setting("isic18", arm): [0.5]})
        table = Artifact("t", "", (Cell("x", setting("isic18", arm)),))
        first, *_ = remarks(table, evidence)
        assert first.startswith("ISIC-18: 4,700") and "cutoff" not in first


def test_the_shared_learner_is_not_said_of_methods_that_have_a_way_of_their_own(
    tiny: Profile,
) -> None:
    own, shared = setting("isic18", "rscfed"), setting("isic18", "semianagg")
    apart = "where a method has no way of its own"
    evidence = evidence_of(tiny, {own: [0.5], shared: [0.5]})
    first, *_ = remarks(TABLES["table1"], evidence)
    assert "cutoff" in first and apart not in first
    for record in evidence.found(own).values():
        record["clients"]["num_pseudo"] = {"1": [3]}
    first, *_ = remarks(TABLES["table1"], evidence)
    assert apart in first


def test_all_labels_that_bound_nothing_are_told_with_the_score_that_decides(
    tiny: Profile,
) -> None:
    scores = {setting("isic18", "upper"): [0.6], setting("isic18", "isofed"): [0.7]}
    text = " ".join(remarks(TABLES["table1"], evidence_of(tiny, scores)))
    said = "ISIC-18: by Acc the model with all labels (60.0) is below IsoFed"
    assert f"{said} (our reading) (70.0), so it bounds nothing there; B-Acc" in text
    # Seeds beyond the five that are planned are not compared with it.
    scores[setting("isic18", "isofed")] = [*[0.5] * 5, *[0.9] * 5]
    text = " ".join(remarks(TABLES["table1"], evidence_of(tiny, scores)))
    assert "bounds nothing" not in text
    scores[setting("isic18", "upper")] = [0.8]
    text = " ".join(remarks(TABLES["table1"], evidence_of(tiny, scores)))
    assert "bounds nothing" not in text
