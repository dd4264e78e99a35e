"""What `fedsemi audit-weights` prints and draws."""

from __future__ import annotations

from pathlib import Path

from typer.testing import CliRunner

from fedsemi.cli import app
from fedsemi.cli.audit_weights import verdict
from fedsemi.errors import StorageError
from fedsemi.valuation.weight_audit import Audit, Row


def audited(*shares: float, gain: float = 0.0) -> Audit:
    equal = sum(shares) / len(shares)
    rows = tuple(
        Row(1, k, share, equal, 1.0, (3.0, 1.0, 2.0)[k % 3], 10.0 * (k + 1))
        for k, share in enumerate(shares)
    )
    return Audit("some-method", rows, (0.5 + gain, 0.5), (0.5, 0.5))


def test_almost_equal_shares_are_said_to_do_as_well():
    # Of two rounds, one has these rows: half of .01 is moved.
    text = verdict(audited(0.26, 0.24, 0.25, 0.25))
    assert text.startswith("some-method moves 0.5% of the mean away from equal shares:")
    assert "equal shares would do as well" in text


def test_shares_that_follow_one_number_are_told_to_use_it():
    text = verdict(audited(0.1, 0.2, 0.3, 0.4, gain=0.02))
    assert "size alone explains 100% of that: weigh by it" in text
    assert "+1.00 points of accuracy within a round (ahead in 1 of 2)" in text


def test_other_shares_are_explained_by_all_three_together():
    text = verdict(audited(0.5, 0.1, 0.3, 0.0, 0.05, 0.05))
    assert "presence, counts and size explain" in text and "together" in text


def test_a_run_is_audited_and_drawn(real_run: Path, tmp_path: Path):
    out = tmp_path / "weights.png"
    done = CliRunner().invoke(
        app, ["audit-weights", str(real_run), "--rounds", "1", "--out", str(out)]
    )
    assert done.exit_code == 0, done.exception
    assert "rank correlation" in done.output and "semianagg moves" in done.output
    assert out.read_bytes().startswith(b"\x89PNG")


def test_a_folder_without_a_model_is_refused(tmp_path: Path):
    done = CliRunner().invoke(app, ["audit-weights", str(tmp_path)])
    assert isinstance(done.exception, StorageError)
    assert "no trained model" in str(done.exception)
