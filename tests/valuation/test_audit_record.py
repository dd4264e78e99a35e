"""Records of audits: small, and enough to repeat the audit."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest
from tests.valuation.test_weight_audit import simulation_of

import fedsemi
from fedsemi.config.experiment import make_experiment
from fedsemi.runs.folder import read_json
from fedsemi.simulation.build import build
from fedsemi.valuation.audit_record import is_record, record_of, write_record
from fedsemi.valuation.audit_words import verdict
from fedsemi.valuation.weight_audit import FACTS, Audit, Row, audit

AUDITS = Path(fedsemi.__file__).parents[2] / "results/audits"
SHIPPED = sorted(AUDITS.glob("*.json"))


def test_a_record_repeats_its_audit_to_the_last_digit(tmp_path: Path):
    simulation = simulation_of("feddb", "LAC", cutoff=0.3, shares="exact")
    found = audit(simulation, simulation.initial_weights(), rounds=1)
    path = tmp_path / "feddb.json"
    write_record(path, record_of(found, simulation))
    assert is_record(path) and path.stat().st_size < 10_000
    kept = read_json(path)
    assert kept["card"] == "LAC" and kept["place"]["part"].keys() >= {"head"}
    again = build(make_experiment(kept["config"]))
    second = audit(again, again.initial_weights(), rounds=kept["rounds"])
    write_record(tmp_path / "again.json", record_of(second, again))
    assert (tmp_path / "again.json").read_bytes() == path.read_bytes()


def test_other_json_is_no_record(tmp_path: Path):
    (tmp_path / "config.json").write_text('{"seed": 1}')
    assert not is_record(tmp_path / "config.json")


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_numbers_of_a_shipped_record_are_those_of_its_rows(path: Path):
    kept = read_json(path)
    rows = tuple(Row(**row) for row in kept["rows"])
    found = Audit(
        kept["method"], rows, tuple(kept["accuracy"]), tuple(kept["equal_accuracy"])
    )
    # Shares are kept to six digits, which are few where they are almost equal.
    near = partial(pytest.approx, abs=0.005)
    assert kept["moved"] == near(found.moved) and kept["gain"] == near(found.gain)
    assert kept["explained"]["all"] == near(found.explained(*FACTS))
    for fact in FACTS:
        assert kept["explained"][fact] == near(found.explained(fact))
        assert kept["ranked"][fact] == near(found.ranked(fact))
    assert kept["verdict"] == verdict(found)


def test_shipped_shares_by_counts_are_wholly_explained_by_counts():
    kept = read_json(AUDITS / "cbafed.json")
    assert kept["explained"]["counts"] == 1 and kept["ranked"]["counts"] == 1
