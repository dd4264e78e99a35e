"""What a site and a conductor do with a run that is not fedsemi's: nothing."""

from __future__ import annotations

import json
import stat
from types import SimpleNamespace

import pytest

pytest.importorskip("flwr")

from flwr.app import ConfigRecord, Context, Message, RecordDict
from flwr.proto.runtime_pb2 import PullTaskInputResponse
from flwr.supercore.task_identity import TaskIdentity

from fedsemi.deployment.bundle import make_bundle
from fedsemi.deployment.certificates import make_certificates, new_site_key
from fedsemi.deployment.coordinator import conductor
from fedsemi.deployment.coordinator.deployed import Terms
from fedsemi.deployment.coordinator.door import SECRET, Door
from fedsemi.deployment.coordinator.link import OperatorOnly
from fedsemi.deployment.site import warm_node
from fedsemi.deployment.site.node import REFUSALS
from fedsemi.errors import CannotCreate, ProtocolError

_CONFIG = {"plan": "{}", "ticket": "a"}
_TERMS = Terms(_CONFIG, 3, 600.0, 0.5, 60.0)


def _mode(path):
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture
def message():
    TaskIdentity.run_id, TaskIdentity.node_id, TaskIdentity.task_id = 7, 0, 7
    return Message(RecordDict({"query": ConfigRecord({"v": 1})}), 1, "query")


def _answer(message, bundle, config, home):
    context = Context(7, 1, {}, RecordDict(), config)
    reply = warm_node.answer(message, context, bundle, home)
    return reply.content["failure"]


def test_a_site_answers_a_foreign_bundle_with_a_refusal_and_a_line(
    message, tmp_path, monkeypatch
):
    monkeypatch.setattr(warm_node, "client", lambda *_: pytest.fail("it was executed"))
    for bundle, config in ((b"PK", _CONFIG), (make_bundle(), {"plan": ""})):
        failure = _answer(message, bundle, config, tmp_path)
        assert failure["code"] == "FS5021"
    lines = (tmp_path / REFUSALS).read_text().splitlines()
    assert len(lines) == 2
    assert lines[0].startswith("run 7: FS5021 a run is refused: it brought a bundle")


def test_a_site_runs_the_installed_app_for_the_bundle_of_its_release(message, tmp_path):
    """It has got as far as the site's own checks, which miss the data folder."""
    failure = _answer(message, make_bundle(), _CONFIG, tmp_path)
    assert failure["code"] not in ("FS5021", "FS2301")
    assert not (tmp_path / REFUSALS).exists()


def test_a_message_that_no_app_answers_gets_an_answer_all_the_same(
    message, tmp_path, monkeypatch
):
    """A SuperNode waits for the answer without end."""

    def raises(*_):
        raise ValueError("/home/site/secret")

    monkeypatch.setattr(warm_node, "client", raises)
    failure = _answer(message, make_bundle(), _CONFIG, tmp_path)
    assert dict(failure) == {"code": "FS2301", "reason": "FS2301 ValueError"}


def _task(bundle, config):
    task = PullTaskInputResponse(task_id=1)
    task.run.run_id, task.fab.content = 7, bundle
    for name, value in config.items():
        task.run.override_config[name].string = value
    return task


def _failure(tmp_path, bundle, config):
    grid = SimpleNamespace(set_run=lambda run: None)
    return conductor._failure(grid, _task(bundle, config), tmp_path, tmp_path)


def test_a_conductor_carries_out_what_was_submitted_once(tmp_path, monkeypatch):
    done = []
    monkeypatch.setattr(
        conductor, "run_plan", lambda grid, terms, to: done.append(terms)
    )
    _TERMS.offer(tmp_path)
    assert _failure(tmp_path, make_bundle(), _CONFIG) is None
    assert done == [_TERMS]
    assert "FS5022" in str(_failure(tmp_path, make_bundle(), _CONFIG))
    assert done == [_TERMS]


@pytest.mark.parametrize(
    ("bundle", "config", "code"),
    [
        (b"PK", _CONFIG, "FS5021"),
        (make_bundle(), {"plan": "{}"}, "FS5021"),
        (make_bundle(), _CONFIG | {"ticket": "b"}, "FS5022"),
        (make_bundle(), _CONFIG | {"plan": "[]"}, "FS5022"),
    ],
)
def test_a_conductor_refuses_other_runs_with_a_line_in_the_log(
    bundle, config, code, tmp_path, monkeypatch
):
    monkeypatch.setattr(conductor, "run_plan", lambda *_: pytest.fail("it was run"))
    _TERMS.offer(tmp_path)
    assert code in str(_failure(tmp_path, bundle, config))
    log = (tmp_path / "coordinator.log").read_text()
    assert log.startswith(f"run 7: {code} a run is refused")
    assert Terms.claim(tmp_path, _CONFIG) == _TERMS  # the submitted one can still start


def test_terms_that_nobody_submitted_are_refused(tmp_path):
    _TERMS.offer(tmp_path)
    Terms.withdraw(tmp_path)
    with pytest.raises(ProtocolError, match="FS5022"):
        Terms.claim(tmp_path, _CONFIG)


def test_the_operators_secret_is_new_for_each_start_and_only_for_this_user(tmp_path):
    first = Door.make(tmp_path, tmp_path, 40000)
    second = Door.make(tmp_path, tmp_path, 40000)
    assert first.secret != second.secret and len(first.secret) >= 43
    assert Door.read(tmp_path, tmp_path) == second
    assert _mode(tmp_path / SECRET) == 0o600
    assert json.loads((tmp_path / SECRET).read_text())["secret"] == second.secret


def test_flowers_own_lock_takes_the_operators_secret_alone():
    lock = OperatorOnly("open sesame")
    key = "flwr-oidc-access-token"
    assert lock.validate_tokens_in_metadata([(key, "open sesame")])[0]
    for metadata in ([], [(key, "open")], [("x", "open sesame")], [(key, "")]):
        assert lock.validate_tokens_in_metadata(metadata) == (False, None)


def test_private_keys_are_private_from_the_first_byte(tmp_path, monkeypatch):
    """Also in the file that is renamed into place, and in the folder around it."""
    opened = []
    real = __import__("os").open
    monkeypatch.setattr(
        "fedsemi.storage.os.open",
        lambda path, flags, mode=0o777: (
            opened.append((str(path), mode)) or real(path, flags, mode)
        ),
    )
    make_certificates(tmp_path / "coordinator", [tmp_path / "site-0"], ["127.0.0.1"])
    private = [mode for path, mode in opened if ".key" in path]
    assert private == [0o600, 0o600]
    assert _mode(tmp_path / "coordinator" / "keys") == 0o700
    assert _mode(tmp_path / "site-0" / "keys") == 0o700


def test_a_site_makes_its_key_once(tmp_path):
    public = new_site_key(tmp_path / "site-0")
    assert public.read_bytes().startswith(b"ecdsa-sha2-nistp384 ")
    assert _mode(public.with_suffix(".key")) == 0o600
    with pytest.raises(CannotCreate, match=r"FS5025 .*site\.key.*exists"):
        new_site_key(tmp_path / "site-0")
