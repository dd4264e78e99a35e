"""Records of audits: small, and enough to repeat the audit."""

from __future__ import annotations

from pathlib import Path

from tests.valuation.test_weight_audit import simulation_of

from fedsemi.config.experiment import make_experiment
from fedsemi.runs.folder import read_json
from fedsemi.simulation.build import build
from fedsemi.valuation.audit_record import is_record, record_of, write_record
from fedsemi.valuation.weight_audit import audit


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
