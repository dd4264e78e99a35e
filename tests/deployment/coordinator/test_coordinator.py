from __future__ import annotations

import json

import pytest

pytest.importorskip("flwr")

from fedsemi.cli.deployment import deal_out
from fedsemi.deployment import processes
from fedsemi.deployment.certificates import make_certificates, make_site_key
from fedsemi.deployment.coordinator.coordinator import Coordinator
from fedsemi.deployment.coordinator.deployed import STATUS
from fedsemi.errors import CannotCreate, ConfigError, FedSemiError

from ..conftest import tiny


def test_a_plan_that_acts_on_held_out_images_is_refused(tmp_path):
    settings = {"alarms": {"action": "roll-back"}}
    deal_out(tiny(evaluation={"validation_fraction": 0.2}, **settings), tmp_path)
    with pytest.raises(ConfigError, match=r"FS4111 .*alarms\.action must be 'warn'"):
        Coordinator(tmp_path / "coordinator").submit()


def test_a_finished_run_is_not_trained_over(tmp_path):
    deal_out(tiny(), tmp_path)
    done = tmp_path / "coordinator" / "run" / "summary.json"
    done.parent.mkdir()
    done.write_text("{}")
    with pytest.raises(CannotCreate, match=r"FS1402 .*finished run; move it away"):
        Coordinator(tmp_path / "coordinator").submit()
    assert done.exists()


def test_a_coordinator_without_certificates_says_how_to_make_them(tmp_path):
    with (
        pytest.raises(ConfigError, match=r"FS5005 .*ca\.crt.*`fedsemi certificates "),
        Coordinator(tmp_path).serving(),
    ):
        pass


def test_a_wrong_file_in_enrolled_is_told_before_anything_runs(tmp_path, monkeypatch):
    make_certificates(tmp_path, [], ["127.0.0.1"])
    (tmp_path / "enrolled").mkdir()
    (tmp_path / "enrolled/berlin.pub").write_bytes(make_site_key(tmp_path / "x.key"))
    monkeypatch.setattr(processes, "start", lambda *_: pytest.fail("it was started"))
    with (
        pytest.raises(ConfigError, match=r"FS5030 .*berlin\.pub.*site-N\.pub"),
        Coordinator(tmp_path).serving(),
    ):
        pass


def test_what_ended_the_run_ends_the_coordinator_with_the_same_code(tmp_path):
    error = "FS1201 cannot write 'metrics.jsonl': no space"
    status = {"pid": 1, "done": True, "error": error, "exit_code": 74}
    (tmp_path / STATUS).write_text(json.dumps(status), "utf-8")
    with pytest.raises(FedSemiError) as raised:
        Coordinator(tmp_path).wait(print)
    assert (str(raised.value), raised.value.exit_code) == (error, 74)
