"""The ledger counts what was sent, against numbers counted by hand."""

from __future__ import annotations

from pathlib import Path

import fedsemi
from fedsemi.methods import METHODS
from fedsemi.simulation.ledger import measure

ROOT = Path(fedsemi.__file__).parents[2]


def test_semianagg_sends_its_model_and_one_number_per_class() -> None:
    ledger = measure("semianagg")
    assert ledger.fields == {"model": ledger.model, "diversity": 4 * 4, "counts": 24}
    # Ten models each way; the anchor's seed and hash add 40 bytes to each task.
    assert ledger.down == 10 * (ledger.model + 8 + 32)
    assert ledger.transfers == 20
    assert ledger.beside == 10 * (8 + 32) + 10 * (16 + 24)


def test_rscfed_sends_fifteen_models_each_way() -> None:
    ledger = measure("rscfed")
    assert ledger.down == 15 * ledger.model
    assert ledger.up == 15 * (ledger.model + 24)


def test_cbafed_asks_for_counts_once() -> None:
    ledger = measure("cbafed", labeled_epochs=1)
    assert ledger.fields["class_count"] == 4 * 4
    # One labeled client, once up and once down, without thresholds.
    assert ledger.first_extra == 2 * ledger.model + 16 + 24


def test_fedirm_counts_the_matrix_that_only_labeled_clients_send() -> None:
    ledger = measure("fedirm", unlabeled_after=0)
    assert ledger.fields["relation"] == 4 * 4 * 4
    assert ledger.up == 10 * (ledger.model + 24) + 64


def test_orchestra_sends_its_target_and_its_centroids() -> None:
    sizes = {"projector_width": 4, "global_centroids": 3, "local_centroids": 2}
    ledger = measure("orchestra", server_steps=1, **sizes)
    assert ledger.fields["centroids"] == 2 * 4 * 4
    # The global centroids come down, and the parts go both ways.
    assert ledger.down == 10 * (ledger.model + ledger.fields["parts"] + 3 * 4 * 4)
    assert ledger.transfers == 20


def test_methods_for_few_labels_everywhere_are_measured_there() -> None:
    feddb = measure("feddb")
    # Ten clients with both kinds of images: each sends its mean prediction, [4].
    assert feddb.fields == {"model": feddb.model, "mean_prediction": 16, "counts": 24}
    assert feddb.up == 10 * (feddb.model + 16 + 24) and feddb.down == 10 * feddb.model
    for name in ("sage", "proxyfl"):
        ledger = measure(name)
        assert ledger.up == 10 * (ledger.model + 24)
        assert ledger.down == 10 * ledger.model


def test_twin_sight_sends_its_second_network_both_ways() -> None:
    ledger = measure("twin-sight", projector_width=4)
    # Features of 8 numbers: two layers of 8 x 8 + 8 and 8 x 4 + 4, and an encoder.
    head = (8 * 4 + 4) * 4
    encoder = ledger.model - head
    assert ledger.fields["parts"] == encoder + (8 * 8 + 8 + 8 * 4 + 4) * 4
    assert ledger.down == 10 * (ledger.model + ledger.fields["parts"])


def test_what_the_server_sends_to_itself_is_not_counted() -> None:
    fl2, semifl = measure("fl2"), measure("semifl")
    assert fl2.fields == {"model": fl2.model, "confidence": 4, "counts": 24}
    assert fl2.up == 10 * (fl2.model + 4 + 24) and fl2.down == 10 * fl2.model
    assert semifl.up == 10 * (semifl.model + 24) and semifl.down == 10 * semifl.model
    assert semifl.first_extra == 0


def test_static_batch_norm_asks_everybody_once_more_for_statistics_alone() -> None:
    ledger = measure("semifl", batch_norm="static")
    # Mean and variance of 2 + (2 + 2) + 3 * 4 + 3 * 8 channels, four bytes each.
    assert ledger.fields["measured"] == 2 * 42 * 4
    assert ledger.up == 10 * (ledger.model + 24) + 10 * (336 + 24)
    assert ledger.down == 20 * ledger.model and ledger.transfers == 30
    # Before the first clients label anything, they are asked for statistics, too.
    assert ledger.first_extra == 10 * (ledger.model + 336 + 24)


def test_fedmatch_sends_a_second_part_of_each_weight_and_helpers_bring_two() -> None:
    ledger = measure("fedmatch")
    plain = ledger.model + ledger.fields["parts"]
    assert ledger.up == 10 * (plain + 24) and ledger.down == 10 * plain
    helped = measure("fedmatch", helper_interval=2)
    assert helped.down == ledger.down + 10 * 2 * ledger.fields["parts"]


def test_the_page_says_what_the_ledger_counts() -> None:
    page = (ROOT / "docs/communication.md").read_text("utf-8")
    ours, rscfed = measure("semianagg"), measure("rscfed")
    assert f"a network of {ours.model:,} bytes and C = 4 classes" in page
    totals = [each.up + each.down for each in (ours, rscfed)]
    share = 100 * totals[0] / totals[1]
    assert f"{totals[0]:,} / {totals[1]:,} = {share:.1f} %" in page
    rows = {line.split(" | ")[0]: line for line in page.splitlines() if "|" in line}
    for row, name in {
        "| ssil-cdm": "ssil-cdm",
        "| fedbarlow": "fedbarlow",
        "| orchestra": "orchestra",
        "| twin-sight": "twin-sight",
        "| fedmatch": "fedmatch",
    }.items():
        assert f"{measure(name).fields['parts']:,} bytes" in rows[row]
    assert f"`centroids`, {measure('orchestra').fields['centroids']:,} bytes" in page
    static = measure("semifl", batch_norm="static").fields["measured"]
    assert f"{static:,} bytes here" in rows['| semifl, `batch_norm = "static"`']


def test_every_method_has_its_provenance() -> None:
    assert all(method.provenance.year for method in METHODS.values())
