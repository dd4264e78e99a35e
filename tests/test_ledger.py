"""The ledger counts what was sent, against numbers counted by hand."""

from __future__ import annotations

import pytest

from fedsemi.ledger import measure
from fedsemi.methods import METHODS
from fedsemi.methods.provenance import PROVENANCE


def test_semianagg_sends_its_model_and_one_number_per_class() -> None:
    ledger = measure("semianagg")
    assert ledger.fields == {"model": ledger.model, "diversity": 4 * 4, "counts": 24}
    # Ten models each way; the anchor's seed and hash add 40 bytes to each task.
    assert ledger.down == 10 * (ledger.model + 8 + 32)
    assert ledger.total_in_models == pytest.approx(20, abs=0.2)


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
    ledger = measure("fedirm", unlabeled_after=1)
    assert ledger.fields["relation"] == 4 * 4 * 4
    assert ledger.up == 10 * (ledger.model + 24) + 64


def test_every_method_has_its_provenance() -> None:
    assert PROVENANCE.keys() == METHODS.keys()
